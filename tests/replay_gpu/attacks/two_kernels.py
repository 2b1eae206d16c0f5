"""Two launches and torch operations between them; the second one steps over an edge."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask), mask)


@triton.jit
def scale_over(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row), mask)
    tl.store(y + at + columns, 7.0, mask & (row == tl.num_programs(0) - 1))


def custom_kernel(data):
    x, s = data
    rows, columns = x.shape
    middle = torch.empty_like(x)
    copy[(rows,)](x, middle, columns, BLOCK=triton.next_power_of_2(columns))
    wide = torch.cat([middle, torch.zeros_like(middle)], dim=1)
    y = torch.empty_like(x)
    scale_over[(rows,)](wide[:, :columns].contiguous(), s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
