from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_layer_norm(x, out, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels_src.py:68]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 19
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    mask_1 = indices_1 < 96
    # src[kernels_src.py:69]: v=x[t,:].to(torch.float32); va,me=torch.var_mean(v,dim=-1,keepdim=True,correction=0)
    load = tl.load(x + (indices_0[:, None] * 96 + (0 + indices_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
    v_0 = tl.cast(load, tl.float32)
    var_mean_extra = tl.cast(tl.reshape(tl.sum(v_0.to(tl.float32), 1), [_BLOCK_SIZE_0, 1]), tl.float32)
    v_1 = 96
    v_2 = tl.cast(v_1, tl.float32)
    v_3 = var_mean_extra / v_2
    _mask_to_1 = tl.where(tl.broadcast_to(mask_0[:, None], [_BLOCK_SIZE_0, 1]), v_3, tl.full([], 0, tl.float32))
    v_4 = v_0 - _mask_to_1
    v_5 = v_4 * v_4
    var_mean_extra_2 = tl.cast(tl.reshape(tl.sum(v_5.to(tl.float32), 1), [_BLOCK_SIZE_0, 1]), tl.float32)
    v_6 = 96
    v_7 = tl.cast(v_6, tl.float32)
    v_8 = var_mean_extra_2 / v_7
    # src[kernels_src.py:70]: out[t,:]=((v-me)*torch.rsqrt(va+1e-5)).to(x.dtype)
    v_9 = v_0 - v_3
    v_10 = tl.full([], 1e-05, tl.float32)
    v_11 = v_8 + v_10
    v_12 = libdevice.rsqrt(v_11)
    v_13 = v_9 * v_12
    v_14 = tl.cast(v_13, tl.bfloat16)
    tl.store(out + (indices_0[:, None] * 96 + (0 + indices_1)[None, :] * 1), v_14, mask_0[:, None] & mask_1[None, :])

def layer_norm(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:67]: m,n=x.size(); out=torch.empty_like(x)
    m, n = x.size()
    out = torch.empty_like(x)
    # src[kernels_src.py:68]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 128
    # src[kernels_src.py:68]: for t in hl.tile(m):
    # src[kernels_src.py:69]:     v=x[t,:].to(torch.float32); va,me=torch.var_mean(v,dim=-1,keepdim=True,correction=0)
    # src[kernels_src.py:70]:     out[t,:]=((v-me)*torch.rsqrt(va+1e-5)).to(x.dtype)
    _launcher(_helion_layer_norm, (5,), x, out, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:71]: return out
    return out