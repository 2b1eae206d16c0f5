"""Loads four bytes from an address that is not a multiple of four."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    odd = (x.to(tl.int64) + 1).to(tl.pointer_type(tl.float32))
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row) + 0 * tl.load(odd + at, mask), mask)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    rows, columns = x.shape
    scale[(rows,)](x, s, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
