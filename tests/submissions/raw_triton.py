"""Raw Triton beside Helion: callable grids, keyword constexprs, heuristics, a one-config autotuner, an empty grid."""
import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add_kernel(x_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + index, tl.load(x_ptr + index) + alpha)
    else:
        tl.store(out_ptr + index, tl.load(x_ptr + index, mask=index < n) + alpha, mask=index < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.jit
def twice_kernel(x_ptr, n, one, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + index, tl.load(x_ptr + index, mask=index < n) * 2, mask=index < n)


def custom_kernel(data):
    (x,) = data
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, alpha=1.5, BLOCK=128, num_warps=8, num_stages=2)
    twice_kernel[(triton.cdiv(n, 64), 1)](out, n, 1)
    twice_kernel[(0,)](out, n, 1)
    return out
