from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(4)
_BLOCK_SIZE_1 = tl.constexpr(8)
_BLOCK_SIZE_2 = tl.constexpr(8)

@triton.jit
def _helion_perm(x, o):
    # src[kernels2.py:143]: for ta,tb,tc in hl.tile([a,b,c]): o[tc,ta,tb]=x[ta,tb,tc].permute(2,0,1)
    num_blocks_0 = tl.cdiv(6, _BLOCK_SIZE_0)
    num_blocks_1 = tl.cdiv(20, _BLOCK_SIZE_1)
    pid_0 = tl.program_id(0) % num_blocks_0
    pid_1 = tl.program_id(0) // num_blocks_0 % num_blocks_1
    pid_2 = tl.program_id(0) // (num_blocks_0 * num_blocks_1)
    offset_0 = pid_0 * _BLOCK_SIZE_0
    offset_1 = pid_1 * _BLOCK_SIZE_1
    offset_2 = pid_2 * _BLOCK_SIZE_2
    load = tl.load(tl.make_block_ptr(x, [6, 20, 30], [600, 30, 1], [offset_0, offset_1, offset_2], [_BLOCK_SIZE_0, _BLOCK_SIZE_1, _BLOCK_SIZE_2], [2, 1, 0]), boundary_check=[0, 1, 2], padding_option='zero')
    permute = tl.permute(load, [2, 0, 1])
    tl.store(tl.make_block_ptr(o, [30, 6, 20], [120, 20, 1], [offset_2, offset_0, offset_1], [_BLOCK_SIZE_2, _BLOCK_SIZE_0, _BLOCK_SIZE_1], [2, 1, 0]), tl.cast(permute, tl.float32), boundary_check=[0, 1, 2])

def perm(x, *, _launcher=_default_launcher):
    # src[kernels2.py:142]: a,b,c=x.size(); o=torch.empty([c,a,b],dtype=x.dtype,device=x.device)
    a, b, c = x.size()
    o = torch.empty([c, a, b], dtype=x.dtype, device=x.device)
    # src[kernels2.py:143]: for ta,tb,tc in hl.tile([a,b,c]): o[tc,ta,tb]=x[ta,tb,tc].permute(2,0,1)
    _launcher(_helion_perm, (24,), x, o, num_warps=4, num_stages=1)
    # src[kernels2.py:144]: return o
    return o