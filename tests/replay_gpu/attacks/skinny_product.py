"""A product with few rows and columns and a long sum, for which the library splits the sum and needs a workspace."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, product, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row) + tl.load(product) * 0, mask)


def custom_kernel(data):
    x, s = data
    rows, columns = x.shape
    long = x.reshape(16, rows * columns // 16)
    product = torch.mm(long, long.t())
    y = torch.empty_like(x)
    scale[(rows,)](x, s, product, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y
