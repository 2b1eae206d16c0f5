from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(16)
_BLOCK_SIZE_1 = tl.constexpr(16)
_BLOCK_SIZE_2 = tl.constexpr(32)
_BLOCK_SIZE_3 = tl.constexpr(16)

@triton.jit
def _helion_split_k(x, y, out):
    # src[kernels_src.py:36]: for tm, tn, outer in hl.tile([m, n, kk], block_size=[None, None, 32]):
    num_blocks_0 = tl.cdiv(32, _BLOCK_SIZE_0)
    num_blocks_1 = tl.cdiv(48, _BLOCK_SIZE_1)
    pid_0 = tl.program_id(0) % num_blocks_0
    pid_1 = tl.program_id(0) // num_blocks_0 % num_blocks_1
    pid_2 = tl.program_id(0) // (num_blocks_0 * num_blocks_1)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    offset_1 = pid_1 * _BLOCK_SIZE_1
    indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
    offset_2 = pid_2 * _BLOCK_SIZE_2
    # src[kernels_src.py:37]: acc = hl.zeros([tm, tn], dtype=torch.float32)
    acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 0.0, tl.float32)
    # src[kernels_src.py:38]: for tk in hl.tile(outer.begin, outer.end):
    tile_end = offset_2 + _BLOCK_SIZE_2
    # src[kernels_src.py:38]: for tk in hl.tile(outer.begin, outer.end):
    # src[kernels_src.py:39]:     acc = torch.addmm(acc, x[tm, tk], y[tk, tn])
    for offset_3 in tl.range(tl.cast(offset_2, tl.int32), tl.cast(tile_end, tl.int32), _BLOCK_SIZE_3):
        indices_3 = offset_3 + tl.arange(0, _BLOCK_SIZE_3).to(tl.int32)
        mask_3 = indices_3 < tile_end
        acc_copy = acc
        acc_copy_0 = acc_copy
        # src[kernels_src.py:39]: acc = torch.addmm(acc, x[tm, tk], y[tk, tn])
        load = tl.load(x + (indices_0[:, None] * 128 + indices_3[None, :] * 1), mask_3[None, :], other=0)
        load_1 = tl.load(y + (indices_3[:, None] * 48 + indices_1[None, :] * 1), mask_3[:, None], other=0)
        acc = tl.dot(tl.cast(load, tl.float32), tl.cast(load_1, tl.float32), acc=acc_copy_0, input_precision='tf32', out_dtype=tl.float32)
    # src[kernels_src.py:40]: hl.atomic_add(out, [tm, tn], acc)
    tl.atomic_add(out + (indices_0[:, None] * 48 + indices_1[None, :] * 1), acc, mask=None, sem='relaxed')

def split_k(x, y, *, _launcher=_default_launcher):
    # src[kernels_src.py:34]: m, kk = x.size(); _, n = y.size()
    m, kk = x.size()
    _, n = y.size()
    # src[kernels_src.py:35]: out = torch.zeros([m, n], dtype=torch.float32, device=x.device)
    out = torch.zeros([m, n], dtype=torch.float32, device=x.device)
    # src[kernels_src.py:36]: for tm, tn, outer in hl.tile([m, n, kk], block_size=[None, None, 32]):
    # src[kernels_src.py:37]:     acc = hl.zeros([tm, tn], dtype=torch.float32)
    # src[kernels_src.py:38]:     for tk in hl.tile(outer.begin, outer.end):
    # src[kernels_src.py:36-40]: ...
    _launcher(_helion_split_k, (24,), x, y, out, num_warps=4, num_stages=1)
    # src[kernels_src.py:41]: return out
    return out