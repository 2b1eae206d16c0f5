from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(64)

@triton.jit
def _helion_integers(x, y, o):
    # src[kernels_src.py:126]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 150
    # src[kernels_src.py:127]: a=x[t]; b=y[t]
    load = tl.load(x + indices_0 * 1, mask_0, other=0)
    b = tl.load(y + indices_0 * 1, mask_0, other=0)
    # src[kernels_src.py:128]: o[0,t]=a//b; o[1,t]=a%b; o[2,t]=torch.div(a,b,rounding_mode='trunc'); o[3,t]=a>>2; o[4,t]=(a^b)&~b; o[5,t]=a<<3
    v_0 = tl.full([], 0, tl.int32)
    v_1 = tl.full([], 1, tl.int32)
    v_2 = b == v_0
    v_3 = tl.where(v_2, v_1, b)
    v_4 = v_3 < v_0
    v_5 = v_0 - load
    v_6 = tl.where(v_4, v_5, load)
    v_7 = v_0 - v_3
    v_8 = tl.where(v_4, v_7, v_3)
    v_9 = v_6 < v_0
    v_10 = ~v_6
    v_11 = tl.where(v_9, v_10, v_6)
    v_12 = v_11 // v_8
    v_13 = ~v_12
    v_14 = tl.where(v_9, v_13, v_12)
    v_15 = tl.where(v_2, v_0, v_14)
    tl.store(o + (0 * 150 + indices_0 * 1), v_15, mask_0)
    v_16 = load % b
    v_17 = tl.full([], 0, tl.int32)
    v_18 = v_16 != v_17
    v_19 = libdevice.signbit(v_16) != 0 if v_16.dtype is tl.float32 else v_16 < 0
    v_20 = libdevice.signbit(b) != 0 if b.dtype is tl.float32 else b < 0
    v_21 = v_19 != v_20
    v_22 = v_18 & v_21
    v_23 = v_16 + b
    v_24 = tl.where(v_22, v_23, v_16)
    tl.store(o + (1 * 150 + indices_0 * 1), v_24, mask_0)
    v_25 = load // b
    tl.store(o + (2 * 150 + indices_0 * 1), v_25, mask_0)
    v_26 = tl.full([], 2, tl.int32)
    v_27 = load >> v_26
    tl.store(o + (3 * 150 + indices_0 * 1), v_27, mask_0)
    v_28 = load ^ b
    v_29 = ~b
    v_30 = v_28 & v_29
    tl.store(o + (4 * 150 + indices_0 * 1), v_30, mask_0)
    v_31 = tl.full([], 3, tl.int32)
    v_32 = load << v_31
    tl.store(o + (5 * 150 + indices_0 * 1), v_32, mask_0)

def integers(x, y, *, _launcher=_default_launcher):
    # src[kernels_src.py:125]: n=x.size(0); o=torch.empty([6,n],dtype=torch.int32,device=x.device)
    n = x.size(0)
    o = torch.empty([6, n], dtype=torch.int32, device=x.device)
    # src[kernels_src.py:126]: for t in hl.tile(n):
    # src[kernels_src.py:127]:     a=x[t]; b=y[t]
    # src[kernels_src.py:128]:     o[0,t]=a//b; o[1,t]=a%b; o[2,t]=torch.div(a,b,rounding_mode='trunc'); o[3,t]=a>>2; o[4,t]=(a^b)&~b; o[5,t]=a<<3
    _launcher(_helion_integers, (3,), x, y, o, num_warps=4, num_stages=1)
    # src[kernels_src.py:129]: return o
    return o