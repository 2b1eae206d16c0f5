from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_f64(x, o, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels2.py:78]: for t in hl.tile(m): o[t]=torch.exp(x[t,:]).sum(-1)
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 9
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    mask_1 = indices_1 < 40
    load = tl.load(x + (indices_0[:, None] * 40 + (0 + indices_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
    v_0 = libdevice.exp(load)
    _mask_to = tl.where(mask_0[:, None] & mask_1[None, :], v_0, tl.full([], 0, tl.float64))
    sum_1 = tl.cast(tl.sum(_mask_to.to(tl.float64), 1), tl.float64)
    tl.store(o + indices_0 * 1, sum_1, mask_0)

def f64(x, *, _launcher=_default_launcher):
    # src[kernels2.py:77]: m,n=x.size(); o=torch.empty([m],dtype=torch.float64,device=x.device)
    m, n = x.size()
    o = torch.empty([m], dtype=torch.float64, device=x.device)
    # src[kernels2.py:78]: for t in hl.tile(m): o[t]=torch.exp(x[t,:]).sum(-1)
    _RDIM_SIZE_1 = 64
    _launcher(_helion_f64, (3,), x, o, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels2.py:79]: return o
    return o