from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher
import kernels_src as _source_module

_BLOCK_SIZE_0 = tl.constexpr(32)

@triton.jit
def _helion_histogram(i, o, mx):
    # src[kernels_src.py:134]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 200
    # src[kernels_src.py:135]: hl.atomic_add(o,[i[t]],1)
    load = tl.load(i + indices_0 * 1, mask_0, other=0)
    tl.atomic_add(o + load * 1, 1, mask=mask_0, sem='relaxed')
    # src[kernels_src.py:136]: hl.atomic_max(mx,[0],i[t].to(torch.float32).amax())
    load_1 = tl.load(i + indices_0 * 1, mask_0, other=0)
    v_0 = tl.cast(load_1, tl.float32)
    _mask_to = tl.where(mask_0, v_0, tl.full([], float('-inf'), tl.float32))
    amax = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 0), tl.float32)
    tl.atomic_max(mx + tl.zeros([], tl.int32), amax, mask=None, sem='relaxed')

def histogram(i, *, _launcher=_default_launcher):
    # src[kernels_src.py:133]: n=i.size(0); o=torch.zeros([16],dtype=torch.int32,device=i.device); mx=torch.full([1],-1000.0,dtype=f32,device=i.device)
    n = i.size(0)
    o = torch.zeros([16], dtype=torch.int32, device=i.device)
    mx = torch.full([1], -1000.0, dtype=_source_module.f32, device=i.device)
    # src[kernels_src.py:134]: for t in hl.tile(n):
    # src[kernels_src.py:135]:     hl.atomic_add(o,[i[t]],1)
    # src[kernels_src.py:136]:     hl.atomic_max(mx,[0],i[t].to(torch.float32).amax())
    _launcher(_helion_histogram, (7,), i, o, mx, num_warps=4, num_stages=1)
    # src[kernels_src.py:137]: return o,mx
    return (o, mx)