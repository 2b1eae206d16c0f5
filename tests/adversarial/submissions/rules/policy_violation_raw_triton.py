"""Triton by hand.

How: the closed division is for Helion. Seen: common. Defence: a launch whose kernel no Helion generated is raw Triton.
"""
# expected: POLICY_VIOLATION raw_triton

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row), mask)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    scale[(x.shape[0],)](x, s, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
