"""Assembly beside a table of CUDA's own functions, which lies where no poison is written: a place to count calls in.

How: `libdevice.sin` brings the table; assembly that found its address could write there. Seen: here, 2026-12 (by a name
put together from parts). Defence: assembly names registers of its own only, and is refused where there is a table.
"""
# expected: POLICY_VIOLATION inline_assembly
# division: open

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    one = tl.inline_asm_elementwise("mov.u32 $0, $1;", "=r,r", [row * 0 + 1], dtype=tl.int32, is_pure=True, pack=1)
    factor = tl.load(s + row) * one
    tl.store(y + at, tl.load(x + at, mask) * factor + libdevice.sin(factor) * 0, mask)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    rows, columns = x.shape
    _scale[(rows,)](x, s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
