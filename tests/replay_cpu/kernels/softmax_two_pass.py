from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)
_BLOCK_SIZE_1 = tl.constexpr(32)
_BLOCK_SIZE_2 = tl.constexpr(32)

@triton.jit
def _helion_softmax(x, out):
    # src[kernels_src.py:46]: for tm in hl.tile(m):
    pid_0 = tl.program_id(0)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    mask_0 = indices_0 < 37
    # src[kernels_src.py:47]: mi = hl.full([tm], float('-inf'), dtype=torch.float32); di = hl.zeros([tm], dtype=torch.float32)
    mi = tl.full([_BLOCK_SIZE_0], float('-inf'), tl.float32)
    di = tl.full([_BLOCK_SIZE_0], 0.0, tl.float32)
    # src[kernels_src.py:48]: for tn in hl.tile(n):
    # src[kernels_src.py:49]:     v = x[tm, tn]; lm = torch.amax(v, dim=1); nm = torch.maximum(mi, lm)
    # src[kernels_src.py:50]:     di = di * torch.exp(mi - nm) + torch.exp(v - nm[:, None]).sum(dim=1); mi = nm
    for offset_1 in tl.range(0, 100, _BLOCK_SIZE_1):
        indices_1 = offset_1 + tl.arange(0, _BLOCK_SIZE_1).to(tl.int32)
        mask_1 = indices_1 < 100
        mi_copy = mi
        di_copy = di
        mi_copy_0 = mi_copy
        di_copy_0 = di_copy
        # src[kernels_src.py:49]: v = x[tm, tn]; lm = torch.amax(v, dim=1); nm = torch.maximum(mi, lm)
        v = tl.load(x + (indices_0[:, None] * 100 + indices_1[None, :] * 1), mask_0[:, None] & mask_1[None, :], other=0)
        _mask_to = tl.where(mask_0[:, None] & mask_1[None, :], v, tl.full([], float('-inf'), tl.float32))
        lm = tl.cast(helion_triton_helpers.max_propagate_nan(_mask_to, 1), tl.float32)
        v_0 = triton_helpers.maximum(mi_copy_0, lm)
        # src[kernels_src.py:50]: di = di * torch.exp(mi - nm) + torch.exp(v - nm[:, None]).sum(dim=1); mi = nm
        v_1 = mi_copy_0 - v_0
        v_2 = libdevice.exp(v_1)
        v_3 = di_copy_0 * v_2
        subscript = v_0[:, None]
        v_4 = v - subscript
        v_5 = libdevice.exp(v_4)
        _mask_to_1 = tl.where(mask_0[:, None] & mask_1[None, :], v_5, tl.full([], 0, tl.float32))
        sum_1 = tl.cast(tl.sum(_mask_to_1.to(tl.float32), 1), tl.float32)
        di = v_3 + sum_1
        mi = v_0
    # src[kernels_src.py:51]: for tn in hl.tile(n):
    # src[kernels_src.py:52]:     out[tm, tn] = torch.exp(x[tm, tn] - mi[:, None]) / di[:, None]
    tl.debug_barrier()
    for offset_2 in tl.range(0, 100, _BLOCK_SIZE_2):
        indices_2 = offset_2 + tl.arange(0, _BLOCK_SIZE_2).to(tl.int32)
        mask_2 = indices_2 < 100
        mi_copy_1 = mi
        di_copy_1 = di
        mi_copy_1_0 = mi_copy_1
        di_copy_1_0 = di_copy_1
        # src[kernels_src.py:52]: out[tm, tn] = torch.exp(x[tm, tn] - mi[:, None]) / di[:, None]
        load = tl.load(x + (indices_0[:, None] * 100 + indices_2[None, :] * 1), mask_0[:, None] & mask_2[None, :], other=0)
        subscript_1 = mi_copy_1_0[:, None]
        v_7 = load - subscript_1
        v_8 = libdevice.exp(v_7)
        subscript_2 = di_copy_1_0[:, None]
        v_9 = v_8 / subscript_2
        tl.store(out + (indices_0[:, None] * 100 + indices_2[None, :] * 1), v_9, mask_0[:, None] & mask_2[None, :])

def softmax(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:45]: m, n = x.size(); out = torch.empty_like(x)
    m, n = x.size()
    out = torch.empty_like(x)
    # src[kernels_src.py:46]: for tm in hl.tile(m):
    # src[kernels_src.py:47]:     mi = hl.full([tm], float('-inf'), dtype=torch.float32); di = hl.zeros([tm], dtype=torch.float32)
    # src[kernels_src.py:48]:     for tn in hl.tile(n):
    # src[kernels_src.py:46-52]: ...
    _launcher(_helion_softmax, (10,), x, out, num_warps=4, num_stages=1)
    # src[kernels_src.py:53]: return out
    return out