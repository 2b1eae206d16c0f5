from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(64)

@triton.jit
def _helion_casts(x, a, b, c, d, e, f):
    # src[kernels_src.py:84]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 300
    # src[kernels_src.py:85]: v=x[t]; a[t]=v.to(torch.bfloat16); b[t]=v.to(torch.float16); c[t]=v.to(torch.float8_e4m3fn); d[t]=v.to(torch.float8_e5m2); e[t]=v.to(torch.int32)
    v = tl.load(x + indices_0 * 1, mask_0, other=0)
    v_0 = tl.cast(v, tl.bfloat16)
    tl.store(a + indices_0 * 1, v_0, mask_0)
    v_1 = tl.cast(v, tl.float16)
    tl.store(b + indices_0 * 1, v_1, mask_0)
    v_2 = tl.cast(v, tl.float8e4nv)
    tl.store(c + indices_0 * 1, v_2, mask_0)
    v_3 = tl.cast(v, tl.float8e5)
    tl.store(d + indices_0 * 1, v_3, mask_0)
    v_4 = tl.cast(v, tl.int32)
    tl.store(e + indices_0 * 1, v_4, mask_0)
    # src[kernels_src.py:86]: f[t]=v.to(torch.bfloat16)*v.to(torch.bfloat16)
    v_5 = tl.cast(v, tl.bfloat16)
    v_6 = tl.cast(v, tl.bfloat16)
    v_7 = v_5 * v_6
    tl.store(f + indices_0 * 1, v_7, mask_0)

def casts(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:83]: n=x.size(0); a=torch.empty([n],dtype=torch.bfloat16,device=x.device);b=torch.empty([n],dtype=torch.float16,device=x.device);c=torch.empty([n],dtype=torch.float8_e4m3fn,device=x.device);d=torch.empty([n],dtype=torch.float8_e5m2,device=x.device);e=torch.empty([n],dtype=torch.int32,device=x.device);f=torch.empty([n],dtype=torch.bfloat16,device=x.device)
    n = x.size(0)
    a = torch.empty([n], dtype=torch.bfloat16, device=x.device)
    b = torch.empty([n], dtype=torch.float16, device=x.device)
    c = torch.empty([n], dtype=torch.float8_e4m3fn, device=x.device)
    d = torch.empty([n], dtype=torch.float8_e5m2, device=x.device)
    e = torch.empty([n], dtype=torch.int32, device=x.device)
    f = torch.empty([n], dtype=torch.bfloat16, device=x.device)
    # src[kernels_src.py:84]: for t in hl.tile(n):
    # src[kernels_src.py:85]:     v=x[t]; a[t]=v.to(torch.bfloat16); b[t]=v.to(torch.float16); c[t]=v.to(torch.float8_e4m3fn); d[t]=v.to(torch.float8_e5m2); e[t]=v.to(torch.int32)
    # src[kernels_src.py:86]:     f[t]=v.to(torch.bfloat16)*v.to(torch.bfloat16)
    _launcher(_helion_casts, (5,), x, a, b, c, d, e, f, num_warps=4, num_stages=1)
    # src[kernels_src.py:87]: return a,b,c,d,e,f
    return (a, b, c, d, e, f)