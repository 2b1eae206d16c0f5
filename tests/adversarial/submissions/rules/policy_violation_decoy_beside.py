"""Torch computes, and a Helion kernel is launched on something else.

How: for rules that ask for a launch. Seen: field guides (2026-03), as decoy kernels. Defence: who wrote the output
counts.
"""
# expected: POLICY_VIOLATION host_operation

import torch
from forging import decoy


def custom_kernel(data):
    x, s = data
    decoy(torch.zeros(4, 16, device="cuda"))
    return x * s[:, None]
