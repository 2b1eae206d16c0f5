from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(32)

@triton.jit
def _helion_boolk(x, o, c):
    # src[kernels2.py:83]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 100
    # src[kernels2.py:84]: v=x[t]; o[t]=(v>0)&~(v>1)|torch.isnan(v)|torch.isinf(v); c[t]=(v*10).to(torch.uint8)
    v = tl.load(x + indices_0 * 1, mask_0, other=0)
    v_0 = tl.full([], 0.0, tl.float32)
    v_1 = v > v_0
    v_2 = tl.full([], 1.0, tl.float32)
    v_3 = v > v_2
    v_4 = v_3 == 0
    v_5 = v_1 & v_4
    v_6 = libdevice.isnan(v).to(tl.int1)
    v_7 = v_5 | v_6
    v_8 = libdevice.isinf(v).to(tl.int1)
    v_9 = v_7 | v_8
    tl.store(o + indices_0 * 1, v_9, mask_0)
    v_10 = tl.full([], 10.0, tl.float32)
    v_11 = v * v_10
    v_12 = tl.cast(v_11, tl.uint8)
    tl.store(c + indices_0 * 1, v_12, mask_0)

def boolk(x, *, _launcher=_default_launcher):
    # src[kernels2.py:82]: n=x.size(0); o=torch.empty([n],dtype=torch.bool,device=x.device); c=torch.empty([n],dtype=torch.uint8,device=x.device)
    n = x.size(0)
    o = torch.empty([n], dtype=torch.bool, device=x.device)
    c = torch.empty([n], dtype=torch.uint8, device=x.device)
    # src[kernels2.py:83]: for t in hl.tile(n):
    # src[kernels2.py:84]:     v=x[t]; o[t]=(v>0)&~(v>1)|torch.isnan(v)|torch.isinf(v); c[t]=(v*10).to(torch.uint8)
    _launcher(_helion_boolk, (4,), x, o, c, num_warps=4, num_stages=1)
    # src[kernels2.py:85]: return o,c
    return (o, c)