from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)

@triton.jit
def _helion_topk(x, v, _RDIM_SIZE_1: tl.constexpr, _RDIM_SIZE_2: tl.constexpr):
    # src[kernels2.py:9]: for t in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 9
    indices_1 = tl.arange(0, _RDIM_SIZE_1).to(tl.int32)
    indices_2 = tl.arange(0, _RDIM_SIZE_2).to(tl.int32)
    # src[kernels2.py:10]: a,b=torch.topk(x[t,:],4,dim=1); v[t,:]=a
    load = tl.load(x + (indices_0[:, None] * 32 + (0 + indices_1)[None, :] * 1), mask_0[:, None], other=0)
    topk_index = tl.arange(0, load.shape[-1]).to(tl.uint32)
    topk_bits = load.to(tl.float32).to(tl.uint32, bitcast=True)
    topk_bits = tl.where(topk_bits & 2147483647 == 0, 0, topk_bits)
    topk_ordered = tl.where(topk_bits & 2147483648 != 0, topk_bits ^ 4294967295, topk_bits ^ 2147483648)
    topk_ordered = tl.where(topk_bits & 2147483647 > 2139095040, 4294967295, topk_ordered)
    topk_keys = topk_ordered.to(tl.uint64) << 32 | (topk_index ^ 4294967295)[None, :].to(tl.uint64)
    topk_keys = tl.where((topk_index[None, :] < 32) & mask_0[:, None], topk_keys, tl.full([], 0, tl.uint64))
    topk_selected = tl.topk(topk_keys, 4)
    topk_indices = (topk_selected.to(tl.uint32) ^ 4294967295).to(tl.int64)
    topk_values = tl.gather(load, tl.minimum(topk_indices, load.shape[-1] - 1).to(tl.int32), axis=1)
    tl.store(v + (indices_0[:, None] * 4 + (0 + indices_2)[None, :] * 1), topk_values, mask_0[:, None])

def topk(x, *, _launcher=_default_launcher):
    # src[kernels2.py:8]: m,n=x.size(); v=torch.empty([m,4],dtype=x.dtype,device=x.device)
    m, n = x.size()
    v = torch.empty([m, 4], dtype=x.dtype, device=x.device)
    # src[kernels2.py:9]: for t in hl.tile(m):
    _RDIM_SIZE_1 = 32
    _RDIM_SIZE_2 = 4
    # src[kernels2.py:9]: for t in hl.tile(m):
    # src[kernels2.py:10]:     a,b=torch.topk(x[t,:],4,dim=1); v[t,:]=a
    _launcher(_helion_topk, (3,), x, v, _RDIM_SIZE_1, _RDIM_SIZE_2, num_warps=4, num_stages=1)
    # src[kernels2.py:11]: return v
    return v