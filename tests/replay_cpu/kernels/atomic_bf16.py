from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(8)
_BLOCK_SIZE_1 = tl.constexpr(8)

@triton.jit
def _helion_segr(i, x, o):
    # src[kernels2.py:112]: for tn,tm in hl.tile([n,m]): hl.atomic_add(o,[i[tn],tm],x[tn,tm])
    num_blocks_0 = tl.cdiv(40, _BLOCK_SIZE_0)
    pid_0 = tl.program_id(0) % num_blocks_0
    pid_1 = tl.program_id(0) // num_blocks_0
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    offset_1 = pid_1 * _BLOCK_SIZE_1
    indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
    load = tl.load(i + indices_0 * 1, None)
    load_1 = tl.load(x + (indices_0[:, None] * 16 + indices_1[None, :] * 1), None)
    tl.atomic_add(o + (load[:, None] * 16 + indices_1[None, :] * 1), load_1, mask=None, sem='relaxed')

def segr(x, i, *, _launcher=_default_launcher):
    # src[kernels2.py:111]: n,m=x.size(); o=torch.zeros([10,m],dtype=torch.bfloat16,device=x.device)
    n, m = x.size()
    o = torch.zeros([10, m], dtype=torch.bfloat16, device=x.device)
    # src[kernels2.py:112]: for tn,tm in hl.tile([n,m]): hl.atomic_add(o,[i[tn],tm],x[tn,tm])
    _launcher(_helion_segr, (10,), i, x, o, num_warps=4, num_stages=1)
    # src[kernels2.py:113]: return o
    return o