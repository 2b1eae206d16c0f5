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
def _helion_stats(x, mx, mn, s, am, pr, _REDUCTION_BLOCK_1: tl.constexpr):
    # src[kernels_src.py:59]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 21
    # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
    amax_acc = tl.full([_BLOCK_SIZE_0, _REDUCTION_BLOCK_1], float('-inf'), tl.float32)
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    for roffset_1 in tl.range(0, 60, _REDUCTION_BLOCK_1):
        rindex_1 = roffset_1 + tl.arange(0, _REDUCTION_BLOCK_1).to(tl.int32)
        mask_1 = rindex_1 < 60
        load = tl.load(x + (indices_0[:, None] * 60 + (0 + rindex_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
        v_0 = tl.cast(load, tl.float32)
        # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
        _mask_to = tl.where(mask_0[:, None] & mask_1[None, :], v_0, tl.full([], float('-inf'), tl.float32))
        v_1 = triton_helpers.maximum(amax_acc, _mask_to)
        amax_acc = v_1
    amax = tl.cast(helion_triton_helpers.max_propagate_nan(amax_acc, 1), tl.float32)
    tl.store(mx + indices_0 * 1, amax, mask_0)
    amin_acc = tl.full([_BLOCK_SIZE_0, _REDUCTION_BLOCK_1], float('inf'), tl.float32)
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    for roffset_1 in tl.range(0, 60, _REDUCTION_BLOCK_1):
        rindex_1 = roffset_1 + tl.arange(0, _REDUCTION_BLOCK_1).to(tl.int32)
        mask_1 = rindex_1 < 60
        load_1 = tl.load(x + (indices_0[:, None] * 60 + (0 + rindex_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
        v_2 = tl.cast(load_1, tl.float32)
        # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
        _mask_to_1 = tl.where(mask_0[:, None] & mask_1[None, :], v_2, tl.full([], float('inf'), tl.float32))
        v_3 = triton_helpers.minimum(amin_acc, _mask_to_1)
        amin_acc = v_3
    amin = tl.cast(helion_triton_helpers.min_propagate_nan(amin_acc, 1), tl.float32)
    tl.store(mn + indices_0 * 1, amin, mask_0)
    sum_1_acc = tl.full([_BLOCK_SIZE_0, _REDUCTION_BLOCK_1], 0, tl.float32)
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    for roffset_1 in tl.range(0, 60, _REDUCTION_BLOCK_1):
        rindex_1 = roffset_1 + tl.arange(0, _REDUCTION_BLOCK_1).to(tl.int32)
        mask_1 = rindex_1 < 60
        load_2 = tl.load(x + (indices_0[:, None] * 60 + (0 + rindex_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
        v_4 = tl.cast(load_2, tl.float32)
        # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
        v_5 = sum_1_acc + v_4
        sum_1_acc = v_5
    sum_1 = tl.cast(tl.sum(sum_1_acc.to(tl.float32), 1), tl.float32)
    tl.store(s + indices_0 * 1, sum_1, mask_0)
    argmax_acc = tl.full([_BLOCK_SIZE_0, _REDUCTION_BLOCK_1], float('-inf'), tl.float32)
    argmax_acc_index = tl.full([_BLOCK_SIZE_0, _REDUCTION_BLOCK_1], 2147483647, tl.int32)
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    for roffset_1 in tl.range(0, 60, _REDUCTION_BLOCK_1):
        rindex_1 = roffset_1 + tl.arange(0, _REDUCTION_BLOCK_1).to(tl.int32)
        mask_1 = rindex_1 < 60
        load_3 = tl.load(x + (indices_0[:, None] * 60 + (0 + rindex_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
        v_6 = tl.cast(load_3, tl.float32)
        # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
        _mask_to_2 = tl.where(mask_0[:, None] & mask_1[None, :], v_6, tl.full([], float('-inf'), tl.float32))
        argmax_acc, argmax_acc_index = triton_helpers.maximum_with_index(argmax_acc, argmax_acc_index, _mask_to_2, tl.broadcast_to(rindex_1[None, :], [_BLOCK_SIZE_0, _REDUCTION_BLOCK_1]))
    argmax = tl.cast(triton_helpers.max_with_index(argmax_acc, argmax_acc_index, 1)[1].to(tl.int64), tl.int64)
    tl.store(am + indices_0 * 1, argmax, mask_0)
    prod_acc = tl.full([_BLOCK_SIZE_0, _REDUCTION_BLOCK_1], 1, tl.float32)
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    for roffset_1 in tl.range(0, 60, _REDUCTION_BLOCK_1):
        rindex_1 = roffset_1 + tl.arange(0, _REDUCTION_BLOCK_1).to(tl.int32)
        mask_1 = rindex_1 < 60
        load_4 = tl.load(x + (indices_0[:, None] * 60 + (0 + rindex_1)[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
        v_7 = tl.cast(load_4, tl.float32)
        # src[kernels_src.py:61]: mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
        _mask_to_3 = tl.where(mask_0[:, None] & mask_1[None, :], v_7, tl.full([], 1, tl.float32))
        prod_acc = prod_acc * _mask_to_3.to(tl.float32)
    prod = tl.cast(triton_helpers.prod(prod_acc.to(tl.float32), 1), tl.float32)
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
    # src[kernels_src.py:60]: v=x[t,:].to(torch.float32)
    _REDUCTION_BLOCK_1 = 16
    # src[kernels_src.py:59]: for t in hl.tile(m):
    # src[kernels_src.py:60]:     v=x[t,:].to(torch.float32)
    # src[kernels_src.py:61]:     mx[t]=v.amax(-1); mn[t]=v.amin(-1); s[t]=v.sum(-1); am[t]=v.argmax(-1); pr[t]=torch.prod(v,-1)
    _launcher(_helion_stats, (3,), x, mx, mn, s, am, pr, _REDUCTION_BLOCK_1, num_warps=4, num_stages=1)
    # src[kernels_src.py:62]: return mx,mn,s,am,pr
    return (mx, mn, s, am, pr)