from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_spl(x, o, _RDIM_SIZE_1: tl.constexpr, _SHAPE_DIM: tl.constexpr):
    # src[kernels2.py:72]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    # src[kernels2.py:73]: v=x[t,:]; a,b=hl.split(v.reshape(v.size(0),v.size(1)//2,2)); o[t,:]=hl.join(b,a).reshape(v.size(0),v.size(1))
    v = tl.load(x + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), None)
    view = tl.reshape(v, [_BLOCK_SIZE_0, _SHAPE_DIM, 2])
    a = tl.split(view)[0]
    b = tl.split(view)[1]
    join = tl.join(b, a)
    view_1 = tl.reshape(join, [_BLOCK_SIZE_0, _RDIM_SIZE_1])
    tl.store(o + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), view_1, None)

def spl(x, *, _launcher=_default_launcher):
    # src[kernels2.py:71]: m,n=x.size(); o=torch.empty_like(x)
    m, n = x.size()
    o = torch.empty_like(x)
    # src[kernels2.py:72]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 32
    # src[kernels2.py:73]: v=x[t,:]; a,b=hl.split(v.reshape(v.size(0),v.size(1)//2,2)); o[t,:]=hl.join(b,a).reshape(v.size(0),v.size(1))
    _SHAPE_DIM = _RDIM_SIZE_1 // 2
    # src[kernels2.py:72]: for t in hl.tile(m):
    # src[kernels2.py:73]:     v=x[t,:]; a,b=hl.split(v.reshape(v.size(0),v.size(1)//2,2)); o[t,:]=hl.join(b,a).reshape(v.size(0),v.size(1))
    _launcher(_helion_spl, (2,), x, o, _RDIM_SIZE_1, _SHAPE_DIM, num_warps=4, num_stages=1)
    # src[kernels2.py:74]: return o
    return o