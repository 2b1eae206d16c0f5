from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_helpers import math as tl_math
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime import default_launcher as _default_launcher
import kernels_src as _source_module

_BLOCK_SIZE_0 = tl.constexpr(64)

@triton.jit
def _helion_libdev(x, outs):
    # src[kernels_src.py:116]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 200
    # src[kernels_src.py:117]: v=x[t]
    v = tl.load(x + indices_0 * 1, mask_0, other=0)
    # src[kernels_src.py:118]: outs[0,t]=torch.exp(v); outs[1,t]=torch.log1p(torch.abs(v)); outs[2,t]=torch.tanh(v); outs[3,t]=torch.erf(v); outs[4,t]=torch.rsqrt(torch.abs(v)+1)
    v_0 = libdevice.exp(v)
    tl.store(outs + (0 * 200 + indices_0 * 1), v_0, mask_0)
    v_1 = tl_math.abs(v)
    v_2 = libdevice.log1p(v_1)
    tl.store(outs + (1 * 200 + indices_0 * 1), v_2, mask_0)
    v_3 = libdevice.tanh(v)
    tl.store(outs + (2 * 200 + indices_0 * 1), v_3, mask_0)
    v_4 = libdevice.erf(v)
    tl.store(outs + (3 * 200 + indices_0 * 1), v_4, mask_0)
    v_5 = tl_math.abs(v)
    v_6 = tl.full([], 1.0, tl.float32)
    v_7 = v_5 + v_6
    v_8 = libdevice.rsqrt(v_7)
    tl.store(outs + (4 * 200 + indices_0 * 1), v_8, mask_0)
    # src[kernels_src.py:119]: outs[5,t]=torch.sigmoid(v); outs[6,t]=torch.nn.functional.softplus(v); outs[7,t]=torch.nn.functional.gelu(v); outs[8,t]=torch.nn.functional.silu(v); outs[9,t]=torch.asinh(v)
    v_9 = tl.cast(v, tl.float32)
    v_10 = tl.sigmoid(v_9)
    tl.store(outs + (5 * 200 + indices_0 * 1), v_10, mask_0)
    v_11 = libdevice.exp(v)
    v_12 = libdevice.log1p(v_11)
    v_13 = tl.full([], 20.0, tl.float32)
    v_14 = v > v_13
    where = tl.where(v_14, v, v_12)
    tl.store(outs + (6 * 200 + indices_0 * 1), where, mask_0)
    _gelu_erf = 0.5 * v * (1.0 + libdevice.erf(v * 0.7071067811865476))
    tl.store(outs + (7 * 200 + indices_0 * 1), _gelu_erf, mask_0)
    v_15 = -v
    v_16 = libdevice.exp(v_15)
    v_17 = tl.full([], 1.0, tl.float32)
    v_18 = v_16 + v_17
    v_19 = v / v_18
    tl.store(outs + (8 * 200 + indices_0 * 1), v_19, mask_0)
    v_20 = libdevice.asinh(v)
    tl.store(outs + (9 * 200 + indices_0 * 1), v_20, mask_0)
    # src[kernels_src.py:120]: outs[10,t]=torch.atan2(v,v+3); outs[11,t]=torch.fmod(v,0.7); outs[12,t]=torch.round(v); outs[13,t]=torch.expm1(v); outs[14,t]=torch.sin(v)+torch.cos(v)*torch.lgamma(torch.abs(v)+1); outs[15,t]=torch.floor(v)+torch.ceil(v)*torch.trunc(v)
    v_21 = tl.full([], 3.0, tl.float32)
    v_22 = v + v_21
    v_23 = libdevice.atan2(v, v_22)
    tl.store(outs + (10 * 200 + indices_0 * 1), v_23, mask_0)
    v_24 = tl.full([], 0.7, tl.float32)
    v_25 = libdevice.fmod(v, v_24)
    tl.store(outs + (11 * 200 + indices_0 * 1), v_25, mask_0)
    v_26 = libdevice.nearbyint(v)
    tl.store(outs + (12 * 200 + indices_0 * 1), v_26, mask_0)
    v_27 = libdevice.expm1(v)
    tl.store(outs + (13 * 200 + indices_0 * 1), v_27, mask_0)
    v_28 = tl_math.sin(v)
    v_29 = tl_math.cos(v)
    v_30 = tl_math.abs(v)
    v_31 = tl.full([], 1.0, tl.float32)
    v_32 = v_30 + v_31
    v_33 = libdevice.lgamma(v_32)
    v_34 = v_29 * v_33
    v_35 = v_28 + v_34
    tl.store(outs + (14 * 200 + indices_0 * 1), v_35, mask_0)
    v_36 = libdevice.floor(v)
    v_37 = libdevice.ceil(v)
    v_38 = libdevice.trunc(v)
    v_39 = v_37 * v_38
    v_40 = v_36 + v_39
    tl.store(outs + (15 * 200 + indices_0 * 1), v_40, mask_0)

def libdev(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:114]: n=x.size(0)
    n = x.size(0)
    # src[kernels_src.py:115]: outs=torch.empty([16,n],dtype=f32,device=x.device)
    outs = torch.empty([16, n], dtype=_source_module.f32, device=x.device)
    # src[kernels_src.py:116]: for t in hl.tile(n):
    # src[kernels_src.py:117]:     v=x[t]
    # src[kernels_src.py:118]:     outs[0,t]=torch.exp(v); outs[1,t]=torch.log1p(torch.abs(v)); outs[2,t]=torch.tanh(v); outs[3,t]=torch.erf(v); outs[4,t]=torch.rsqrt(torch.abs(v)+1)
    # src[kernels_src.py:116-120]: ...
    _launcher(_helion_libdev, (4,), x, outs, num_warps=4, num_stages=1)
    # src[kernels_src.py:121]: return outs
    return outs