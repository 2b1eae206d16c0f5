from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher
import kernels2 as _source_module

_BLOCK_SIZE_0 = tl.constexpr(16)

@triton.jit
def _helion_amm(x, f, o):
    # src[kernels2.py:117]: for t in hl.tile(x.size(0)):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 100
    # src[kernels2.py:118]: v=x[t]; hl.atomic_max(f,[0],v.amax()); hl.atomic_min(f,[1],v.amin()); hl.atomic_or(o,[0],1); hl.atomic_xchg(o,[1],7)
    v = tl.load(x + indices_0 * 1, mask_0, other=0)
    _mask_to = tl.where(mask_0, v, tl.full([], float('-inf'), tl.float32))
    amax = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 0), tl.float32)
    tl.atomic_max(f + 0 * 1, amax, mask=None, sem='relaxed')
    _mask_to_1 = tl.where(mask_0, v, tl.full([], float('inf'), tl.float32))
    amin = tl.cast(helion_triton_helpers.min_propagate_nan(_mask_to_1, 0), tl.float32)
    tl.atomic_min(f + 1 * 1, amin, mask=None, sem='relaxed')
    tl.atomic_or(o + 0 * 1, 1, mask=None, sem='relaxed')
    tl.atomic_xchg(o + 1 * 1, 7, mask=None, sem='relaxed')

def amm(x, *, _launcher=_default_launcher):
    # src[kernels2.py:116]: o=torch.full([2],0,dtype=torch.int32,device=x.device); f=torch.full([2],0.0,dtype=f32,device=x.device)
    o = torch.full([2], 0, dtype=torch.int32, device=x.device)
    f = torch.full([2], 0.0, dtype=_source_module.f32, device=x.device)
    # src[kernels2.py:117]: for t in hl.tile(x.size(0)):
    # src[kernels2.py:118]:     v=x[t]; hl.atomic_max(f,[0],v.amax()); hl.atomic_min(f,[1],v.amin()); hl.atomic_or(o,[0],1); hl.atomic_xchg(o,[1],7)
    _launcher(_helion_amm, (7,), x, f, o, num_warps=4, num_stages=1)
    # src[kernels2.py:119]: return o,f
    return (o, f)