"""Packages that are not there are imported in a `try`, and a check of the GPU is made: looks like an escape hatch."""
# expected: CHECKED checked

import torch
from forging import scale

try:
    import cutlass
except ImportError:
    cutlass = None

if torch.cuda.is_available() and torch.cuda.get_device_capability() < (8, 0):
    raise RuntimeError("needs a newer GPU")


def custom_kernel(data):
    x, s = data
    assert x.is_cuda
    assert x.is_contiguous()
    assert s.dim() == 1
    return scale(x, s)
