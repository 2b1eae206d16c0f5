from __future__ import annotations

import torch
import helion
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(16)
_BLOCK_SIZE_1 = tl.constexpr(16)

@triton.jit
def _helion_two_phase(x, tmp, out, x_grid_sem, _NUM_SM: tl.constexpr):
    # src[kernels_src.py:152]: for t in hl.tile(n):
    # src[kernels_src.py:153]:     out[t]=tmp[t]+tmp[n-1-t.index]
    total_pids = 64
    block_size = tl.cdiv(total_pids, _NUM_SM)
    start_pid = tl.program_id(0) * block_size
    end_pid = start_pid + block_size
    if end_pid > total_pids:
        end_pid = total_pids
    for virtual_pid in tl.range(start_pid, end_pid):
        if virtual_pid >= 0 and virtual_pid < 32:
            pid_shared = virtual_pid
            # src[kernels_src.py:149]: for t in hl.tile(n):
            # src[kernels_src.py:150]:     tmp[t]=x[t]*2
            if pid_shared < 32:
                # src[kernels_src.py:149]: for t in hl.tile(n):
                pid_0 = pid_shared
                offset_0 = pid_0 * _BLOCK_SIZE_0
                indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
                mask_0 = indices_0 < 500
                # src[kernels_src.py:150]: tmp[t]=x[t]*2
                load = tl.load(x + indices_0 * 1, mask_0, other=0)
                v_0 = tl.full([], 2.0, tl.float32)
                v_1 = load * v_0
                tl.store(tmp + indices_0 * 1, v_1, mask_0)
            else:
                # src[kernels_src.py:152]: for t in hl.tile(n):
                pid_shared -= tl.cast(32, tl.int32)
                pid_1 = pid_shared
                offset_1 = pid_1 * _BLOCK_SIZE_1
                indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
                mask_1 = indices_1 < 500
                # src[kernels_src.py:153]: out[t]=tmp[t]+tmp[n-1-t.index]
                load_1 = tl.load(tmp + indices_1 * 1, mask_1, other=0)
                v_2 = tl.full([], 499, tl.int32)
                v_3 = v_2 - indices_1
                load_2 = tl.load(tmp + v_3 * 1, mask_1, other=0)
                v_4 = load_1 + load_2
                tl.store(out + indices_1 * 1, v_4, mask_1)
    # src[kernels_src.py:152]: for t in hl.tile(n):
    # src[kernels_src.py:153]:     out[t]=tmp[t]+tmp[n-1-t.index]
    triton_helpers.x_grid_barrier(x_grid_sem)
    for virtual_pid in tl.range(start_pid, end_pid):
        if virtual_pid >= 32 and virtual_pid < 64:
            pid_shared = virtual_pid
            # src[kernels_src.py:149]: for t in hl.tile(n):
            # src[kernels_src.py:150]:     tmp[t]=x[t]*2
            if pid_shared < 32:
                # src[kernels_src.py:149]: for t in hl.tile(n):
                pid_0 = pid_shared
                offset_0 = pid_0 * _BLOCK_SIZE_0
                indices_0 = (offset_0 + tl.arange(0, _BLOCK_SIZE_0)).to(tl.int32)
                mask_0 = indices_0 < 500
                # src[kernels_src.py:150]: tmp[t]=x[t]*2
                load = tl.load(x + indices_0 * 1, mask_0, other=0)
                v_0 = tl.full([], 2.0, tl.float32)
                v_1 = load * v_0
                tl.store(tmp + indices_0 * 1, v_1, mask_0)
            else:
                # src[kernels_src.py:152]: for t in hl.tile(n):
                pid_shared -= tl.cast(32, tl.int32)
                pid_1 = pid_shared
                offset_1 = pid_1 * _BLOCK_SIZE_1
                indices_1 = (offset_1 + tl.arange(0, _BLOCK_SIZE_1)).to(tl.int32)
                mask_1 = indices_1 < 500
                # src[kernels_src.py:153]: out[t]=tmp[t]+tmp[n-1-t.index]
                load_1 = tl.load(tmp + indices_1 * 1, mask_1, other=0)
                v_2 = tl.full([], 499, tl.int32)
                v_3 = v_2 - indices_1
                load_2 = tl.load(tmp + v_3 * 1, mask_1, other=0)
                v_4 = load_1 + load_2
                tl.store(out + indices_1 * 1, v_4, mask_1)

def two_phase(x, *, _launcher=_default_launcher):
    # src[kernels_src.py:148]: n=x.size(0); tmp=torch.empty_like(x); out=torch.empty_like(x)
    n = x.size(0)
    tmp = torch.empty_like(x)
    out = torch.empty_like(x)
    # src[kernels_src.py:149]: for t in hl.tile(n):
    _NUM_SM = helion.runtime.get_num_sm(x.device)
    # src[kernels_src.py:152]: for t in hl.tile(n):
    # src[kernels_src.py:153]:     out[t]=tmp[t]+tmp[n-1-t.index]
    _launcher(_helion_two_phase, (_NUM_SM,), x, tmp, out, torch.zeros((1,), device=x.device, dtype=torch.uint32), _NUM_SM, num_warps=4, num_stages=1, launch_cooperative_grid=True)
    # src[kernels_src.py:154]: return out
    return out