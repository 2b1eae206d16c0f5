from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import math as tl_math
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher
import kernels_src as _source_module

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_fp8_quant(x, s, q, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels_src.py:76]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 13
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    # src[kernels_src.py:77]: v=x[t,:].to(torch.float32); a=torch.clamp(torch.amax(torch.abs(v),-1),min=1e-10)/448.0
    load = tl.load(x + (indices_0[:, None] * 64 + (0 + indices_1)[None, :] * 1), mask_0[:, None], other=0)
    v_0 = tl.cast(load, tl.float32)
    v_1 = tl_math.abs(v_0)
    _mask_to = tl.where(tl.broadcast_to(mask_0[:, None], [_BLOCK_SIZE_0, _RDIM_SIZE_1]), v_1, tl.full([], float('-inf'), tl.float32))
    amax = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 1), tl.float32)
    v_2 = tl.full([], 1e-10, tl.float32)
    v_3 = triton_helpers.maximum(amax, v_2)
    v_4 = tl.full([], 0.002232142857142857, tl.float32)
    v_5 = v_3 * v_4
    # src[kernels_src.py:78]: s[t]=a; q[t,:]=torch.clamp(v/a[:,None],-448.0,448.0).to(torch.float8_e4m3fn)
    tl.store(s + indices_0 * 1, v_5, mask_0)
    subscript = v_5[:, None]
    v_6 = v_0 / subscript
    v_7 = tl.full([], -448.0, tl.float32)
    v_8 = triton_helpers.maximum(v_6, v_7)
    v_9 = tl.full([], 448.0, tl.float32)
    v_10 = triton_helpers.minimum(v_8, v_9)
    v_11 = tl.cast(v_10, tl.float8e4nv)
    tl.store(q + (indices_0[:, None] * 64 + (0 + indices_1)[None, :] * 1), v_11, mask_0[:, None])

def fp8_quant(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:75]: m,n=x.size(); q=torch.empty([m,n],dtype=torch.float8_e4m3fn,device=x.device); s=torch.empty([m],dtype=f32,device=x.device)
    m, n = x.size()
    q = torch.empty([m, n], dtype=torch.float8_e4m3fn, device=x.device)
    s = torch.empty([m], dtype=_source_module.f32, device=x.device)
    # src[kernels_src.py:76]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 64
    # src[kernels_src.py:76]: for t in hl.tile(m):
    # src[kernels_src.py:77]:     v=x[t,:].to(torch.float32); a=torch.clamp(torch.amax(torch.abs(v),-1),min=1e-10)/448.0
    # src[kernels_src.py:78]:     s[t]=a; q[t,:]=torch.clamp(v/a[:,None],-448.0,448.0).to(torch.float8_e4m3fn)
    _launcher(_helion_fp8_quant, (4,), x, s, q, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:79]: return q,s
    return (q, s)