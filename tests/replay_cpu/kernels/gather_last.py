from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_gat(x, i, o, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels2.py:138]: for t in hl.tile(m): o[t,:]=torch.gather(x[t,:],1,i[t,:])
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    load = tl.load(x + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), None)
    load_1 = tl.load(i + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), None)
    gather_result = tl.gather(load, load_1.to(tl.int32), axis=1)
    tl.store(o + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), gather_result, None)

def gat(x, i, *, _launcher=_default_launcher):
    # src[kernels2.py:137]: m,n=x.size(); o=torch.empty([m,i.size(1)],dtype=x.dtype,device=x.device)
    m, n = x.size()
    o = torch.empty([m, i.size(1)], dtype=x.dtype, device=x.device)
    # src[kernels2.py:138]: for t in hl.tile(m): o[t,:]=torch.gather(x[t,:],1,i[t,:])
    _RDIM_SIZE_1 = 32
    _launcher(_helion_gat, (2,), x, i, o, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels2.py:139]: return o
    return o