from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(8)

@triton.jit
def _helion_gather(i, x, out, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels_src.py:108]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 30
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    mask_1 = indices_1 < 24
    # src[kernels_src.py:109]: out[t,:]=x[i[t],:]
    load = tl.load(i + indices_0 * 1, mask_0, other=0)
    load_1 = tl.load(x + (load[:, None] * 24 + (0 + indices_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
    tl.store(out + (indices_0[:, None] * 24 + (0 + indices_1)[None, :] * 1), load_1, mask_0[:, None] & mask_1[None, :])

def gather(x, i, *, _launcher=_default_launcher):
    # src[kernels_src.py:107]: n=i.size(0); m=x.size(1); out=torch.empty([n,m],dtype=x.dtype,device=x.device)
    n = i.size(0)
    m = x.size(1)
    out = torch.empty([n, m], dtype=x.dtype, device=x.device)
    # src[kernels_src.py:108]: for t in hl.tile(n):
    _RDIM_SIZE_1 = 32
    # src[kernels_src.py:108]: for t in hl.tile(n):
    # src[kernels_src.py:109]:     out[t,:]=x[i[t],:]
    _launcher(_helion_gather, (4,), i, x, out, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:110]: return out
    return out