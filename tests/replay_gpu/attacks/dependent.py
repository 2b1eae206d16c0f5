"""Two kernels, of which the second may begin before the first has ended: programmatic dependent launch."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def copy(x, y, columns, BLOCK: tl.constexpr):
    gdc_wait()
    gdc_launch_dependents()
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask), mask)


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    factor = tl.load(s + row)
    gdc_wait()
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * factor, mask)


def custom_kernel(data):
    x, s = data
    rows, columns = x.shape
    middle, y = torch.empty_like(x), torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    copy[(rows,)](x, middle, columns, BLOCK=block, launch_pdl=True)
    scale[(rows,)](middle, s, y, columns, BLOCK=block, launch_pdl=True)
    return y
