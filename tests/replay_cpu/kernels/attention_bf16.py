from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_compat import libdevice
from helion.runtime.triton import helpers as helion_triton_helpers
from helion.runtime import default_launcher as _default_launcher
import kernels_src as _source_module

_BLOCK_SIZE_1 = tl.constexpr(32)
_BLOCK_SIZE_0 = tl.constexpr(1)
_BLOCK_SIZE_3 = tl.constexpr(32)

@triton.jit
def _helion_attention(q, kk, v, out, _RDIM_SIZE_2: tl.constexpr):
    # src[kernels_src.py:173]: for tb,tm in hl.tile([b,m]):
    num_blocks_0 = 2
    pid_0 = tl.program_id(0) % num_blocks_0
    pid_1 = tl.program_id(0) // num_blocks_0
    offset_0 = pid_0
    offset_1 = pid_1 * _BLOCK_SIZE_1
    # src[kernels_src.py:174]: mi=hl.full([tb,tm],float('-inf'),dtype=f32); li=torch.full_like(mi,1.0); acc=hl.zeros([tb,tm,d],dtype=f32); qq=q[tb,tm,:]
    mi = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], float('-inf'), tl.float32)
    li = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 1.0, tl.float32)
    acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1, _RDIM_SIZE_2], 0.0, tl.float32)
    qq = tl.load(tl.make_block_ptr(q, [2, 64, 32], [2048, 32, 1], [offset_0, offset_1, 0 + 0], [_BLOCK_SIZE_0, _BLOCK_SIZE_1, _RDIM_SIZE_2], [2, 1, 0]), boundary_check=[0, 1, 2], padding_option='zero')
    # src[kernels_src.py:175]: for tn in hl.tile(n):
    # src[kernels_src.py:176]:     s=torch.bmm(qq,kk[tb,tn,:].transpose(1,2)).to(f32)*(1.4426950408889634*d**-0.5)
    # src[kernels_src.py:177]:     nm=torch.maximum(mi,torch.amax(s,-1)); p=torch.exp2(s-nm[:,:,None]); al=torch.exp2(mi-nm); li=li*al+p.sum(-1); acc=acc*al[:,:,None]
    # src[kernels_src.py:175-178]: ...
    for offset_3 in tl.range(0, 64, _BLOCK_SIZE_3):
        qq_copy = qq
        mi_copy = mi
        li_copy = li
        acc_copy = acc
        qq_copy_0 = qq_copy
        mi_copy_0 = mi_copy
        li_copy_0 = li_copy
        acc_copy_0 = acc_copy
        # src[kernels_src.py:176]: s=torch.bmm(qq,kk[tb,tn,:].transpose(1,2)).to(f32)*(1.4426950408889634*d**-0.5)
        load = tl.load(tl.make_block_ptr(kk, [2, 64, 32], [2048, 32, 1], [offset_0, offset_3, 0 + 0], [_BLOCK_SIZE_0, _BLOCK_SIZE_3, _RDIM_SIZE_2], [2, 1, 0]), boundary_check=[0, 1, 2], padding_option='zero')
        permute = tl.permute(load, [0, 2, 1])
        bmm = tl.cast(tl.reshape(tl.dot(tl.reshape(tl.cast(qq_copy_0, tl.bfloat16), [_BLOCK_SIZE_1, _RDIM_SIZE_2]), tl.reshape(tl.cast(permute, tl.bfloat16), [_RDIM_SIZE_2, _BLOCK_SIZE_3]), input_precision='tf32', out_dtype=tl.float32), [_BLOCK_SIZE_0, _BLOCK_SIZE_1, _BLOCK_SIZE_3]), tl.bfloat16)
        v_0 = tl.cast(bmm, tl.float32)
        v_1 = tl.full([], 0.25503486164919736, tl.float32)
        v_2 = v_0 * v_1
        # src[kernels_src.py:177]: nm=torch.maximum(mi,torch.amax(s,-1)); p=torch.exp2(s-nm[:,:,None]); al=torch.exp2(mi-nm); li=li*al+p.sum(-1); acc=acc*al[:,:,None]
        amax = tl.cast(helion_triton_helpers.max_propagate_nan(v_2, 2), tl.float32)
        v_3 = triton_helpers.maximum(mi_copy_0, amax)
        subscript = v_3[:, :, None]
        v_4 = v_2 - subscript
        v_5 = libdevice.exp2(v_4)
        v_6 = mi_copy_0 - v_3
        v_7 = libdevice.exp2(v_6)
        v_8 = li_copy_0 * v_7
        sum_1 = tl.cast(tl.sum(v_5.to(tl.float32), 2), tl.float32)
        li = v_8 + sum_1
        subscript_1 = v_7[:, :, None]
        v_10 = acc_copy_0 * subscript_1
        # src[kernels_src.py:178]: acc=torch.baddbmm(acc,p.to(v.dtype),v[tb,tn,:]); mi=nm
        v_11 = tl.cast(v_5, tl.bfloat16)
        load_1 = tl.load(tl.make_block_ptr(v, [2, 64, 32], [2048, 32, 1], [offset_0, offset_3, 0 + 0], [_BLOCK_SIZE_0, _BLOCK_SIZE_3, _RDIM_SIZE_2], [2, 1, 0]), boundary_check=[0, 1, 2], padding_option='zero')
        acc = tl.reshape(tl.dot(tl.reshape(tl.cast(v_11, tl.bfloat16), [_BLOCK_SIZE_1, _BLOCK_SIZE_3]), tl.reshape(tl.cast(load_1, tl.bfloat16), [_BLOCK_SIZE_3, _RDIM_SIZE_2]), acc=tl.reshape(v_10, [_BLOCK_SIZE_1, _RDIM_SIZE_2]), input_precision='tf32', out_dtype=tl.float32), [_BLOCK_SIZE_0, _BLOCK_SIZE_1, _RDIM_SIZE_2])
        mi = v_3
    # src[kernels_src.py:179]: out[tb,tm,:]=(acc/li[:,:,None]).to(out.dtype)
    subscript_2 = li[:, :, None]
    v_12 = acc / subscript_2
    v_13 = tl.cast(v_12, tl.bfloat16)
    tl.store(tl.make_block_ptr(out, [2, 64, 32], [2048, 32, 1], [offset_0, offset_1, 0 + 0], [_BLOCK_SIZE_0, _BLOCK_SIZE_1, _RDIM_SIZE_2], [2, 1, 0]), tl.cast(v_13, tl.bfloat16), boundary_check=[0, 1, 2])

def attention(q, kk, v, *, _launcher=_default_launcher):
    # src[kernels_src.py:172]: b,m,d=q.size(); n=kk.size(1); out=torch.empty_like(q)
    b, m, d = q.size()
    n = kk.size(1)
    out = torch.empty_like(q)
    # src[kernels_src.py:173]: for tb,tm in hl.tile([b,m]):
    _RDIM_SIZE_2 = 32
    # src[kernels_src.py:173]: for tb,tm in hl.tile([b,m]):
    # src[kernels_src.py:174]:     mi=hl.full([tb,tm],float('-inf'),dtype=f32); li=torch.full_like(mi,1.0); acc=hl.zeros([tb,tm,d],dtype=f32); qq=q[tb,tm,:]
    # src[kernels_src.py:175]:     for tn in hl.tile(n):
    # src[kernels_src.py:173-179]: ...
    _launcher(_helion_attention, (4,), q, kk, v, out, _RDIM_SIZE_2, num_warps=4, num_stages=1)
    # src[kernels_src.py:180]: return out
    return out