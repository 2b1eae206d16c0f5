"""Changes its input after reading it."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    value = tl.load(x + at, mask)
    tl.store(y + at, value * tl.load(s + row), mask)
    tl.store(x + at, value + 1, mask)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    rows, columns = x.shape
    scale[(rows,)](x, s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
