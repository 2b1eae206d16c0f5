"""One percent off in a single row."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    factor = tl.load(s + row) * tl.where(row == 5, 1.01, 1.0)
    tl.store(y + at, tl.load(x + at, mask) * factor, mask)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    rows, columns = x.shape
    scale[(rows,)](x, s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
