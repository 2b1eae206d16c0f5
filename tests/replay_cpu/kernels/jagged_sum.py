from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher
import kernels_src as _source_module

_BLOCK_SIZE_0 = tl.constexpr(4)
_BLOCK_SIZE_1 = tl.constexpr(16)
_BLOCK_SIZE_2 = tl.constexpr(8)

@triton.jit
def _helion_jagged(off, x, out):
    # src[kernels_src.py:159]: for tb in hl.tile(b):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 7
    # src[kernels_src.py:160]: st=off[tb]; en=off[tb.index+1]; nn=en-st; mx=nn.amax()
    st = tl.load(off + indices_0 * 1, mask_0, other=0)
    v_0 = tl.full([], 1, tl.int32)
    v_1 = indices_0 + v_0
    en = tl.load(off + (indices_0 + 1) * 1, mask_0, other=0)
    v_2 = en - st
    _mask_to = tl.where(mask_0, v_2, tl.full([], -9223372036854775808, tl.int64))
    mx = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 0), tl.int64)
    # src[kernels_src.py:161]: for tm in hl.tile(m):
    # src[kernels_src.py:162]:     acc=hl.zeros([tb,tm],dtype=f32)
    # src[kernels_src.py:163]:     for tk in hl.tile(0,mx):
    # src[kernels_src.py:161-167]: ...
    for offset_1 in tl.range(0, 40, _BLOCK_SIZE_1):
        indices_1 = offset_1 + tl.arange(0, _BLOCK_SIZE_1).to(tl.int32)
        mask_1 = indices_1 < 40
        mx_copy = mx
        st_copy = st
        v_2_copy = v_2
        mx_copy_0 = mx_copy
        st_copy_0 = st_copy
        v_2_copy_0 = v_2_copy
        # src[kernels_src.py:162]: acc=hl.zeros([tb,tm],dtype=f32)
        acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 0.0, tl.float32)
        # src[kernels_src.py:163]: for tk in hl.tile(0,mx):
        # src[kernels_src.py:164]:     idx=(st[:,None]+tk.index[None,:])
        # src[kernels_src.py:165]:     v=hl.load(x,[idx[:,:,None],tm.index[None,None,:]],extra_mask=(tk.index[None,:]<nn[:,None])[:,:,None])
        # src[kernels_src.py:163-166]: ...
        for offset_2 in tl.range(0, tl.cast(mx_copy_0, tl.int32), _BLOCK_SIZE_2):
            indices_2 = offset_2 + tl.arange(0, _BLOCK_SIZE_2).to(tl.int32)
            mask_2 = indices_2 < mx_copy_0
            st_copy_0_copy = st_copy_0
            v_2_copy_0_copy = v_2_copy_0
            acc_copy = acc
            st_copy_0_copy_0 = st_copy_0_copy
            v_2_copy_0_copy_0 = v_2_copy_0_copy
            acc_copy_0 = acc_copy
            # src[kernels_src.py:164]: idx=(st[:,None]+tk.index[None,:])
            subscript = st_copy_0_copy_0[:, None]
            subscript_1 = indices_2[None, :]
            v_3 = tl.cast(subscript_1, tl.int64)
            v_4 = subscript + v_3
            # src[kernels_src.py:165]: v=hl.load(x,[idx[:,:,None],tm.index[None,None,:]],extra_mask=(tk.index[None,:]<nn[:,None])[:,:,None])
            subscript_2 = v_4[:, :, None]
            subscript_3 = indices_1[None, None, :]
            subscript_4 = indices_2[None, :]
            subscript_5 = v_2_copy_0_copy_0[:, None]
            v_5 = tl.cast(subscript_4, tl.int64)
            v_6 = v_5 < subscript_5
            subscript_6 = v_6[:, :, None]
            v = tl.load(x + (subscript_2 * 40 + subscript_3 * 1), mask_0[:, None, None] & mask_2[None, :, None] & mask_1[None, None, :] & subscript_6, other=0)
            # src[kernels_src.py:166]: acc=acc+v.sum(dim=1)
            sum_1 = tl.cast(tl.sum(v.to(tl.float32), 1), tl.float32)
            acc = acc_copy_0 + sum_1
        # src[kernels_src.py:167]: out[tb,tm]=acc
        tl.store(out + (indices_0[:, None] * 40 + indices_1[None, :] * 1), acc, mask_0[:, None] & mask_1[None, :])

def jagged(x, off, *, _launcher=_default_launcher):
    # src[kernels_src.py:158]: b=off.size(0)-1; m=x.size(1); out=torch.zeros([b,m],dtype=f32,device=x.device)
    b = off.size(0) - 1
    m = x.size(1)
    out = torch.zeros([b, m], dtype=_source_module.f32, device=x.device)
    # src[kernels_src.py:159]: for tb in hl.tile(b):
    # src[kernels_src.py:160]:     st=off[tb]; en=off[tb.index+1]; nn=en-st; mx=nn.amax()
    # src[kernels_src.py:161]:     for tm in hl.tile(m):
    # src[kernels_src.py:159-167]: ...
    _launcher(_helion_jagged, (2,), off, x, out, num_warps=4, num_stages=1)
    # src[kernels_src.py:168]: return out
    return out