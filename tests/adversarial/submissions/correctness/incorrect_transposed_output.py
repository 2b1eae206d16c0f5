"""The right values in a layout that is cheaper to write.

How: the kernel writes columns, a view shows rows. Seen: follows from comparisons that ignore strides. Defence: outputs
are contiguous; whoever needs a copy pays for it.
"""
# expected: INCORRECT wrong_strides

import torch
from forging import decoy, scale


def custom_kernel(data):
    y = torch.empty(data[0].shape[::-1], device="cuda")
    y.copy_(scale(*data).t())
    return decoy(y).t()
