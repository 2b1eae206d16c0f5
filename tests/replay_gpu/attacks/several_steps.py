"""Two launches and torch operations between them."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask), mask)


@triton.jit
def scale_rows(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row), mask)


def custom_kernel(data):
    x, s = data
    rows, columns = x.shape
    middle = torch.empty_like(x)
    copy[(rows,)](x, middle, columns, BLOCK=triton.next_power_of_2(columns))
    wide = torch.cat([middle, torch.zeros_like(middle)], dim=1)
    y = torch.empty_like(x)
    scale_rows[(rows,)](wide[:, :columns].contiguous(), s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
