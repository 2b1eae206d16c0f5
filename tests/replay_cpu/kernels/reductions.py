from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher
import kernels_src as _source_module

_BLOCK_SIZE_0 = tl.constexpr(8)

@triton.jit
def _helion_stats(x, mx, mn, s, am, pr, _RDIM_SIZE_1: tl.constexpr):
    # src[kernels_src.py:59]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 21
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    mask_1 = indices_1 < 60
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    v = tl.load(x + (indices_0[:, None] * 60 + (0 + indices_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
    # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
    _mask_to = tl.where(mask_0[:, None] & mask_1[None, :], v, tl.full([], float('-inf'), tl.float32))
    amax = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 1), tl.float32)
    tl.store(mx + indices_0 * 1, amax, mask_0)
    _mask_to_1 = tl.where(mask_0[:, None] & mask_1[None, :], v, tl.full([], float('inf'), tl.float32))
    amin = tl.cast(helion_triton_helpers.min_propagate_nan(_mask_to_1, 1), tl.float32)
    tl.store(mn + indices_0 * 1, amin, mask_0)
    sum_1 = tl.cast(tl.sum(v.to(tl.float32), 1), tl.float32)
    tl.store(s + indices_0 * 1, sum_1, mask_0)
    argmax = tl.cast(triton_helpers.max_with_index(_mask_to, tl.broadcast_to(indices_1[None, :], [_BLOCK_SIZE_0, _RDIM_SIZE_1]), 1)[1].to(tl.int64), tl.int64)
    tl.store(am + indices_0 * 1, argmax, mask_0)
    _mask_to_3 = tl.where(mask_0[:, None] & mask_1[None, :], v, tl.full([], 1, tl.float32))
    prod = tl.cast(triton_helpers.prod(_mask_to_3.to(tl.float32), 1), tl.float32)
    tl.store(pr + indices_0 * 1, prod, mask_0)

def stats(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:57]: m, n = x.size()
    m, n = x.size()
    # src[kernels_src.py:58]: mx=torch.empty([m],dtype=f32,device=x.device); mn=torch.empty_like(mx); s=torch.empty_like(mx); am=torch.empty([m],dtype=torch.int64,device=x.device); pr=torch.empty_like(mx)
    mx = torch.empty([m], dtype=_source_module.f32, device=x.device)
    mn = torch.empty_like(mx)
    s = torch.empty_like(mx)
    am = torch.empty([m], dtype=torch.int64, device=x.device)
    pr = torch.empty_like(mx)
    # src[kernels_src.py:59]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 64
    # src[kernels_src.py:59]: for t in hl.tile(m):
    # src[kernels_src.py:60]:     v=x[t,:].to(torch.float32)
    # src[kernels_src.py:61]:     mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
    _launcher(_helion_stats, (3,), x, mx, mn, s, am, pr, _RDIM_SIZE_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:62]: return mx,mn,s,am,pr
    return (mx, mn, s, am, pr)