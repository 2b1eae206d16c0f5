"""Torch computes on numbers that `fill_` took from the input.

How: `fill_` with a tensor was taken for a fill with a constant, so that memory filled with an input's element counted
as a constant. No forging is needed. Seen: here, 2026-11.
Defence: a fill with a tensor is a copy of that tensor.
"""
# expected: POLICY_VIOLATION host_operation

import torch
from forging import scale


def custom_kernel(data):
    x, s = data
    factor = torch.empty(s.shape, device="cuda")
    for row in range(s.shape[0]):
        factor[row].fill_(s[row])
    return scale(x, factor * 1.0)
