"""The input is padded to a multiple of the tile, the result cut again: copies, all of them timed."""
# expected: CHECKED checked

import torch
from forging import scale


def custom_kernel(data):
    x, s = data
    rows = x.shape[0]
    padded = torch.nn.functional.pad(x, (0, 0, 0, 12))
    return scale(padded, torch.nn.functional.pad(s, (0, 12)))[:rows].clone()
