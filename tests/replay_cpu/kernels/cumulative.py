from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def add_0(param_0, param_1):
    # src[kernels_src.py:93]: out[t,:]=torch.cumsum(x[t,:],dim=1); rev[t,:]=hl.cumprod(x[t,:],dim=1)
    v_0 = param_0 + param_1
    # src[kernels_src.py:90]: def cumulative(x):
    # src[kernels_src.py:91]:     m,n=x.size(); out=torch.empty_like(x); rev=torch.empty_like(x)
    # src[kernels_src.py:92]:     for t in hl.tile(m):
    # src[kernels_src.py:90-94]: ...
    return v_0

@triton.jit
def mul_1(param_0, param_1):
    # src[kernels_src.py:93]: out[t,:]=torch.cumsum(x[t,:],dim=1); rev[t,:]=hl.cumprod(x[t,:],dim=1)
    v_0 = param_0 * param_1
    # src[kernels_src.py:90]: def cumulative(x):
    # src[kernels_src.py:91]:     m,n=x.size(); out=torch.empty_like(x); rev=torch.empty_like(x)
    # src[kernels_src.py:92]:     for t in hl.tile(m):
    # src[kernels_src.py:90-94]: ...
    return v_0

@triton.jit
def _helion_cumulative(x, out, rev, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels_src.py:92]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 10
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    mask_1 = indices_1 < 50
    # src[kernels_src.py:93]: out[t,:]=torch.cumsum(x[t,:],dim=1); rev[t,:]=hl.cumprod(x[t,:],dim=1)
    load = tl.load(x + (indices_0[:, None] * 50 + (0 + indices_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
    _associative_scan = tl.associative_scan(load, 1, add_0)
    tl.store(out + (indices_0[:, None] * 50 + (0 + indices_1)[None, :] * 1), _associative_scan, mask_0[:, None] & mask_1[None, :])
    load_1 = tl.load(x + (indices_0[:, None] * 50 + (0 + indices_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
    _associative_scan_1 = tl.associative_scan(load_1, 1, mul_1)
    tl.store(rev + (indices_0[:, None] * 50 + (0 + indices_1)[None, :] * 1), _associative_scan_1, mask_0[:, None] & mask_1[None, :])

def cumulative(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:91]: m,n=x.size(); out=torch.empty_like(x); rev=torch.empty_like(x)
    m, n = x.size()
    out = torch.empty_like(x)
    rev = torch.empty_like(x)
    # src[kernels_src.py:92]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 64
    # src[kernels_src.py:92]: for t in hl.tile(m):
    # src[kernels_src.py:93]:     out[t,:]=torch.cumsum(x[t,:],dim=1); rev[t,:]=hl.cumprod(x[t,:],dim=1)
    _launcher(_helion_cumulative, (3,), x, out, rev, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:94]: return out,rev
    return (out, rev)