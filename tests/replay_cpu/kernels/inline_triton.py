from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(32)

@triton.jit
def _helion_itri(x, y, o):
    # src[kernels2.py:21]: for t in hl.tile(x.size(0)):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 100
    # src[kernels2.py:22]: a=x[t]; b=y[t]
    load = tl.load(x + indices_0 * 1, mask_0, other=0)
    b = tl.load(y + indices_0 * 1, mask_0, other=0)
    # src[kernels2.py:23]: o[t]=hl.inline_triton("tl.where({0} > {1}, {0} * 2.0, {1})",args=(a,b),output_like=a)
    inline_triton_result = tl.where(load > b, load * 2.0, b)
    tl.static_assert(inline_triton_result.dtype == tl.float32, 'inline_triton output dtype mismatch; expected torch.float32')
    tl.static_assert(inline_triton_result.shape == load.shape, 'inline_triton output shape mismatch')
    tl.store(o + indices_0 * 1, inline_triton_result, mask_0)

def itri(x, y, *, _launcher=_default_launcher):
    # src[kernels2.py:20]: o=torch.empty_like(x)
    o = torch.empty_like(x)
    # src[kernels2.py:21]: for t in hl.tile(x.size(0)):
    # src[kernels2.py:22]:     a=x[t]; b=y[t]
    # src[kernels2.py:23]:     o[t]=hl.inline_triton("tl.where({0} > {1}, {0} * 2.0, {1})",args=(a,b),output_like=a)
    _launcher(_helion_itri, (4,), x, y, o, num_warps=4, num_stages=1)
    # src[kernels2.py:24]: return o
    return o