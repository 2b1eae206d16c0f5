from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(32)

@triton.jit
def _helion_ctrl(x, s, o):
    # src[kernels2.py:49]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 150
    # src[kernels2.py:50]: v=x[t]
    v = tl.load(x + indices_0 * 1, mask_0, other=0)
    # src[kernels2.py:51]: if s[0]>0:
    load_1 = tl.load(s + tl.zeros([], tl.int32), None)
    v_0 = tl.full([], 0, tl.int32)
    v_1 = load_1 > v_0
    # src[kernels2.py:51]: if s[0]>0:
    # src[kernels2.py:52]:     v=v*2
    # src[kernels2.py:53]: else:
    # src[kernels2.py:51-54]: ...
    if v_1:
        v_copy = v
        v_copy_0 = v_copy
        # src[kernels2.py:52]: v=v*2
        v_2 = tl.full([], 2.0, tl.float32)
        v_3 = v_copy_0 * v_2
    else:
        # src[kernels2.py:51]: if s[0]>0:
        # src[kernels2.py:52]:     v=v*2
        # src[kernels2.py:53]: else:
        # src[kernels2.py:51-54]: ...
        v_copy_1 = v
        v_copy_1_0 = v_copy_1
        # src[kernels2.py:54]: v=v-1
        v_4 = tl.full([], 1.0, tl.float32)
        v_3 = v_copy_1_0 - v_4
    # src[kernels2.py:55]: if t.begin>=64:
    ge = offset_0 >= 64
    # src[kernels2.py:55]: if t.begin>=64:
    # src[kernels2.py:56]:     v=v+100
    if ge:
        v_3_before_if = v_3
        v_3_copy = v_3
        v_3_copy_0 = v_3_copy
        # src[kernels2.py:56]: v=v+100
        v_6 = tl.full([], 100.0, tl.float32)
        v_7 = v_3_copy_0 + v_6
        # src[kernels2.py:55]: if t.begin>=64:
        # src[kernels2.py:56]:     v=v+100
        v_3 = v_7.to(v_3_before_if.dtype)
    else:
        pass
    # src[kernels2.py:58]: o[t]=v
    tl.store(o + indices_0 * 1, v_3, mask_0)

def ctrl(x, s, *, _launcher=_default_launcher):
    # src[kernels2.py:48]: n=x.size(0); o=torch.empty_like(x)
    n = x.size(0)
    o = torch.empty_like(x)
    # src[kernels2.py:49]: for t in hl.tile(n):
    # src[kernels2.py:50]:     v=x[t]
    # src[kernels2.py:51]:     if s[0]>0:
    # src[kernels2.py:49-58]: ...
    _launcher(_helion_ctrl, (5,), x, s, o, num_warps=4, num_stages=1)
    # src[kernels2.py:59]: return o
    return o