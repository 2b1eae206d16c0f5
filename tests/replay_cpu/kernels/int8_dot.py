from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(32)
_BLOCK_SIZE_1 = tl.constexpr(32)
_BLOCK_SIZE_2 = tl.constexpr(32)

@triton.jit
def _helion_i8(x, y, o):
    # src[kernels2.py:36]: for tm,tn in hl.tile([m,n]):
    num_blocks_0 = tl.cdiv(64, _BLOCK_SIZE_0)
    pid_0 = tl.program_id(0) % num_blocks_0
    pid_1 = tl.program_id(0) // num_blocks_0
    offset_0 = pid_0 * _BLOCK_SIZE_0
    indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
    offset_1 = pid_1 * _BLOCK_SIZE_1
    indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
    # src[kernels2.py:37]: acc=hl.zeros([tm,tn],dtype=torch.int32)
    acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 0, tl.int32)
    # src[kernels2.py:38]: for tk in hl.tile(kk): acc=hl.dot(x[tm,tk],y[tk,tn],acc=acc)
    for offset_2 in tl.range(0, 64, _BLOCK_SIZE_2):
        indices_2 = offset_2 + tl.arange(0, _BLOCK_SIZE_2).to(tl.int32)
        acc_copy = acc
        acc_copy_0 = acc_copy
        load = tl.load(x + (indices_0[:, None] * 64 + indices_2[None, :] * 1), None)
        load_1 = tl.load(y + (indices_2[:, None] * 64 + indices_1[None, :] * 1), None)
        acc = acc_copy_0 + tl.cast(tl.dot(tl.cast(load, tl.int8), tl.cast(load_1, tl.int8), input_precision='tf32', out_dtype=tl.int32), tl.int32)
    # src[kernels2.py:39]: o[tm,tn]=acc
    tl.store(o + (indices_0[:, None] * 64 + indices_1[None, :] * 1), acc, None)

def i8(x, y, *, _launcher=_default_launcher):
    # src[kernels2.py:35]: m,kk=x.size(); n=y.size(1); o=torch.empty([m,n],dtype=torch.int32,device=x.device)
    m, kk = x.size()
    n = y.size(1)
    o = torch.empty([m, n], dtype=torch.int32, device=x.device)
    # src[kernels2.py:36]: for tm,tn in hl.tile([m,n]):
    # src[kernels2.py:37]:     acc=hl.zeros([tm,tn],dtype=torch.int32)
    # src[kernels2.py:38]:     for tk in hl.tile(kk): acc=hl.dot(x[tm,tk],y[tk,tn],acc=acc)
    # src[kernels2.py:36-39]: ...
    _launcher(_helion_i8, (4,), x, y, o, num_warps=4, num_stages=1)
    # src[kernels2.py:40]: return o
    return o