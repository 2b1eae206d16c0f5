"""More memory than anybody needs.

How: the result takes a detour through a corner of a huge tensor. Seen: follows from free memory. Defence: caps on
launches, steps, tensors and memory.
"""
# expected: POLICY_VIOLATION too_many_memory

import torch
from forging import scale


def custom_kernel(data):
    y = scale(*data)
    corner = torch.empty(1 << 20, 1 << 14, device="cuda")[: y.shape[0], : y.shape[1]]
    corner.copy_(y)
    return corner.clone(memory_format=torch.contiguous_format)
