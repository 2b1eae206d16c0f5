"""A variable of the module's own, declared in inline assembly, which the open division allows: it outlives calls.

How: `.global` within the text; the count of calls so far is added far within tolerance, or chooses a way. Seen: here,
2026-12 (assembled; the variable lies where no poison is written). Defence: assembly declares nothing, and machine code
with such a section is not loaded.
"""
# expected: POLICY_VIOLATION refused_operation
# division: open

import torch
import triton
import triton.language as tl


@triton.jit
def _scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    count = tl.inline_asm_elementwise(
        "{ .global .align 4 .u32 kept; .reg .u64 a; mov.u64 a, kept; atom.global.add.u32 $0, [a], $1; }",
        "=r,r",
        [row * 0 + 1],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row) * (1 + (count & 15).to(tl.float32) * 1e-6), mask)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    rows, columns = x.shape
    _scale[(rows,)](x, s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
