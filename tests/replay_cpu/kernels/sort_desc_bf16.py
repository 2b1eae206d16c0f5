from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_sortd(x, v, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels2.py:15]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 9
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    # src[kernels2.py:16]: a,b=torch.sort(x[t,:],dim=1,descending=True); v[t,:]=a
    load = tl.load(x + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), mask_0[:, None], other=0)
    sorted_vals = tl.sort(load, descending=True)
    tl.store(v + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), sorted_vals, mask_0[:, None])

def sortd(x, *, _launcher=_default_launcher):
    # src[kernels2.py:14]: m,n=x.size(); v=torch.empty_like(x)
    m, n = x.size()
    v = torch.empty_like(x)
    # src[kernels2.py:15]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 32
    # src[kernels2.py:15]: for t in hl.tile(m):
    # src[kernels2.py:16]:     a,b=torch.sort(x[t,:],dim=1,descending=True); v[t,:]=a
    _launcher(_helion_sortd, (3,), x, v, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels2.py:17]: return v
    return v