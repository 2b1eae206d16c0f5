from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_helpers import math as tl_math
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(32)

@triton.jit
def _helion_whl(x, o):
    # src[kernels2.py:63]: for t in hl.tile(n):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 150
    # src[kernels2.py:64]: v=x[t]; m=v.abs().amax()
    v = tl.load(x + indices_0 * 1, mask_0, other=0)
    v_0 = tl_math.abs(v)
    _mask_to = tl.where(mask_0, v_0, tl.full([], float('-inf'), tl.float32))
    amax = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 0), tl.float32)
    # src[kernels2.py:65]: while m>1.0:
    v_1 = tl.full([], 1.0, tl.float32)
    v_2 = amax > v_1
    # src[kernels2.py:65]: while m>1.0:
    # src[kernels2.py:66]:     v=v*0.5; m=m*0.5
    while_cond = v_2
    while while_cond:
        # src[kernels2.py:66]: v=v*0.5; m=m*0.5
        v_3 = tl.full([], 0.5, tl.float32)
        v = v * v_3
        v_5 = tl.full([], 0.5, tl.float32)
        amax = amax * v_5
        # src[kernels2.py:65]: while m>1.0:
        v_7 = tl.full([], 1.0, tl.float32)
        v_8 = amax > v_7
        # src[kernels2.py:65]: while m>1.0:
        # src[kernels2.py:66]:     v=v*0.5; m=m*0.5
        while_cond = v_8
    # src[kernels2.py:67]: o[t]=v
    tl.store(o + indices_0 * 1, v, mask_0)

def whl(x, *, _launcher=_default_launcher):
    # src[kernels2.py:62]: n=x.size(0); o=torch.empty_like(x)
    n = x.size(0)
    o = torch.empty_like(x)
    # src[kernels2.py:63]: for t in hl.tile(n):
    # src[kernels2.py:64]:     v=x[t]; m=v.abs().amax()
    # src[kernels2.py:65]:     while m>1.0:
    # src[kernels2.py:63-67]: ...
    _launcher(_helion_whl, (5,), x, o, num_warps=4, num_stages=1)
    # src[kernels2.py:68]: return o
    return o