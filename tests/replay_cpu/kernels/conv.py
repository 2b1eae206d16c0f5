from __future__ import annotations

import torch
import helion
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher
import kernels2 as _source_module

_BLOCK_SIZE_0 = tl.constexpr(2)
_BLOCK_SIZE_1 = tl.constexpr(16)

@triton.jit
def _helion_st(x, w, o, _NUM_SM: tl.constexpr):
    # src[kernels2.py:128]: for tb,tn in hl.tile([b,n]):
    # src[kernels2.py:129]:     acc=hl.zeros([tb,tn],dtype=f32)
    # src[kernels2.py:130]:     for j in hl.static_range(3):
    # src[kernels2.py:128-133]: ...
    total_pids = 12
    for virtual_pid in tl.range(tl.program_id(0), total_pids, _NUM_SM):
        # src[kernels2.py:128]: for tb,tn in hl.tile([b,n]):
        num_blocks_0 = tl.cdiv(5, _BLOCK_SIZE_0)
        pid_0 = virtual_pid % num_blocks_0
        pid_1 = virtual_pid // num_blocks_0
        offset_0 = pid_0 * _BLOCK_SIZE_0
        indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
        mask_0 = indices_0 < 5
        offset_1 = pid_1 * _BLOCK_SIZE_1
        indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
        mask_1 = indices_1 < 50
        # src[kernels2.py:129]: acc=hl.zeros([tb,tn],dtype=f32)
        acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 0.0, tl.float32)
        # src[kernels2.py:131]: idx=tn.index-j
        v_0 = tl.full([], 0, tl.int32)
        v_1 = indices_1 - v_0
        # src[kernels2.py:132]: acc=acc+hl.load(x,[tb,idx],extra_mask=(idx>=0)[None,:])*w[j]
        v_2 = tl.full([], 0, tl.int32)
        v_3 = v_1 >= v_2
        subscript = v_3[None, :]
        load = tl.load(x + (indices_0[:, None] * 50 + v_1[None, :] * 1), mask_0[:, None] & mask_1[None, :] & subscript, other=0)
        load_1 = tl.load(w + 0 * 1, None)
        v_4 = load * load_1
        v_5 = acc + v_4
        # src[kernels2.py:131]: idx=tn.index-j
        v_6 = tl.full([], 1, tl.int32)
        v_7 = indices_1 - v_6
        # src[kernels2.py:132]: acc=acc+hl.load(x,[tb,idx],extra_mask=(idx>=0)[None,:])*w[j]
        v_8 = tl.full([], 0, tl.int32)
        v_9 = v_7 >= v_8
        subscript_1 = v_9[None, :]
        load_2 = tl.load(x + (indices_0[:, None] * 50 + v_7[None, :] * 1), mask_0[:, None] & mask_1[None, :] & subscript_1, other=0)
        load_3 = tl.load(w + 1 * 1, None)
        v_10 = load_2 * load_3
        v_11 = v_5 + v_10
        # src[kernels2.py:131]: idx=tn.index-j
        v_12 = tl.full([], 2, tl.int32)
        v_13 = indices_1 - v_12
        # src[kernels2.py:132]: acc=acc+hl.load(x,[tb,idx],extra_mask=(idx>=0)[None,:])*w[j]
        v_14 = tl.full([], 0, tl.int32)
        v_15 = v_13 >= v_14
        subscript_2 = v_15[None, :]
        load_4 = tl.load(x + (indices_0[:, None] * 50 + v_13[None, :] * 1), mask_0[:, None] & mask_1[None, :] & subscript_2, other=0)
        load_5 = tl.load(w + 2 * 1, None)
        v_16 = load_4 * load_5
        v_17 = v_11 + v_16
        # src[kernels2.py:133]: o[tb,tn]=acc
        tl.store(o + (indices_0[:, None] * 50 + indices_1[None, :] * 1), v_17, mask_0[:, None] & mask_1[None, :])

def st(x, w, *, _launcher=_default_launcher):
    # src[kernels2.py:127]: b,n=x.size(); o=torch.empty_like(x)
    b, n = x.size()
    o = torch.empty_like(x)
    # src[kernels2.py:128]: for tb,tn in hl.tile([b,n]):
    _NUM_SM = helion.runtime.get_num_sm(x.device)
    # src[kernels2.py:128]: for tb,tn in hl.tile([b,n]):
    # src[kernels2.py:129]:     acc=hl.zeros([tb,tn],dtype=f32)
    # src[kernels2.py:130]:     for j in hl.static_range(3):
    # src[kernels2.py:128-133]: ...
    _launcher(_helion_st, (_NUM_SM,), x, w, o, _NUM_SM, num_warps=4, num_stages=1)
    # src[kernels2.py:134]: return o
    return o