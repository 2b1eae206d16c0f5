"""Steps over the end of its output by one row."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row), mask)
    tl.store(y + at + columns, tl.load(x + at, mask) * 0 + 7, mask & (row == tl.num_programs(0) - 1))


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    rows, columns = x.shape
    scale[(rows,)](x, s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
