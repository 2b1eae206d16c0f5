"""Helion does a part, torch the rest.

How: the epilogue is left to torch. Seen: common, mostly without malice. Defence: the plan shows it, with its line.
"""
# expected: POLICY_VIOLATION host_operation

import torch
from forging import scale


def custom_kernel(data):
    x, s = data
    y = scale(x, torch.ones(s.shape, device="cuda"))
    return y.mul_(s[:, None])
