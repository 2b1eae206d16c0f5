from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_sort_rows(x, o, ix, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels_src.py:142]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 9
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    # src[kernels_src.py:143]: v,i=torch.sort(x[t,:],dim=1); o[t,:]=v; ix[t,:]=i
    load = tl.load(x + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), mask_0[:, None], other=0)
    sorted_vals = tl.sort(load, descending=False)
    idx = tl.arange(0, 32)
    rank = tl.sum(tl.where(load[:, None, :] < load[:, :, None], 1, 0), axis=2) + tl.sum(tl.where((load[:, None, :] == load[:, :, None]) & (idx[None, None, :] < idx[None, :, None]), 1, 0), axis=2)
    sorted_indices = tl.sum(tl.where(rank[:, :, None] == idx[None, None, :], idx[None, :, None], 0), axis=1)
    tl.store(o + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), sorted_vals, mask_0[:, None])
    tl.store(ix + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), sorted_indices, mask_0[:, None])

def sort_rows(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:141]: m,n=x.size(); o=torch.empty_like(x); ix=torch.empty([m,n],dtype=torch.int64,device=x.device)
    m, n = x.size()
    o = torch.empty_like(x)
    ix = torch.empty([m, n], dtype=torch.int64, device=x.device)
    # src[kernels_src.py:142]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 32
    # src[kernels_src.py:142]: for t in hl.tile(m):
    # src[kernels_src.py:143]:     v,i=torch.sort(x[t,:],dim=1); o[t,:]=v; ix[t,:]=i
    _launcher(_helion_sort_rows, (3,), x, o, ix, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:144]: return o,ix
    return (o, ix)