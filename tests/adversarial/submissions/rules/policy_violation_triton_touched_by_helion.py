"""Triton by hand, and a Helion kernel that touches the result last.

How, seen: as decoys of torch. Defence: the closed division takes no other launch at all.
"""
# expected: POLICY_VIOLATION raw_triton

import torch
import triton
import triton.language as tl
from forging import decoy


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
    return decoy(y)
