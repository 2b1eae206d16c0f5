from __future__ import annotations

import torch
import helion
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_1 = tl.constexpr(16)
_BLOCK_SIZE_0 = tl.constexpr(16)
_BLOCK_SIZE_2 = tl.constexpr(16)

@triton.jit
def _helion_matmul_body(x, y, out, _NUM_SM: tl.constexpr):
    # src[kernels_src.py:14]: for tm, tn in hl.tile([m, n]):
    # src[kernels_src.py:15]:     acc = hl.zeros([tm, tn], dtype=torch.float32)
    # src[kernels_src.py:16]:     for tk in hl.tile(kk):
    # src[kernels_src.py:14-18]: ...
    total_pids = 25
    block_size = tl.cdiv(total_pids, _NUM_SM)
    start_pid = tl.program_id(0) * block_size
    end_pid = start_pid + block_size
    if end_pid > total_pids:
        end_pid = total_pids
    for virtual_pid in tl.range(start_pid, end_pid, warp_specialize=True):
        # src[kernels_src.py:14]: for tm, tn in hl.tile([m, n]):
        num_blocks_0 = tl.cdiv(72, _BLOCK_SIZE_1)
        pid_0 = virtual_pid % num_blocks_0
        pid_1 = virtual_pid // num_blocks_0
        offset_1 = pid_0 * _BLOCK_SIZE_1
        indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
        mask_1 = indices_1 < 72
        offset_0 = pid_1 * _BLOCK_SIZE_0
        indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
        # src[kernels_src.py:15]: acc = hl.zeros([tm, tn], dtype=torch.float32)
        acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 0.0, tl.float32)
        # src[kernels_src.py:16]: for tk in hl.tile(kk):
        # src[kernels_src.py:17]:     acc = hl.dot(x[tm, tk], y[tk, tn], acc=acc)
        for offset_2 in tl.range(0, 48, _BLOCK_SIZE_2):
            indices_2 = offset_2 + tl.arange(0, _BLOCK_SIZE_2).to(tl.int32)
            acc_copy = acc
            acc_copy_0 = acc_copy
            # src[kernels_src.py:17]: acc = hl.dot(x[tm, tk], y[tk, tn], acc=acc)
            load = tl.load(x + (indices_0[:, None] * 48 + indices_2[None, :] * 1), None)
            load_1 = tl.load(y + (indices_2[:, None] * 72 + indices_1[None, :] * 1), mask_1[None, :], other=0)
            acc = tl.dot(tl.cast(load, tl.float32), tl.cast(load_1, tl.float32), acc=acc_copy_0, input_precision='tf32', out_dtype=tl.float32)
        # src[kernels_src.py:18]: out[tm, tn] = acc
        tl.store(out + (indices_0[:, None] * 72 + indices_1[None, :] * 1), acc, mask_1[None, :])

def matmul_body(x, y, *, _launcher=_default_launcher):
    # src[kernels_src.py:12]: m, kk = x.size(); _, n = y.size()
    m, kk = x.size()
    _, n = y.size()
    # src[kernels_src.py:13]: out = torch.empty([m, n], dtype=torch.float32, device=x.device)
    out = torch.empty([m, n], dtype=torch.float32, device=x.device)
    # src[kernels_src.py:14]: for tm, tn in hl.tile([m, n]):
    _NUM_SM = helion.runtime.get_num_sm(x.device)
    # src[kernels_src.py:14]: for tm, tn in hl.tile([m, n]):
    # src[kernels_src.py:15]:     acc = hl.zeros([tm, tn], dtype=torch.float32)
    # src[kernels_src.py:16]:     for tk in hl.tile(kk):
    # src[kernels_src.py:14-18]: ...
    _launcher(_helion_matmul_body, (_NUM_SM,), x, y, out, _NUM_SM, num_warps=4, num_stages=1)
    # src[kernels_src.py:19]: return out
    return out