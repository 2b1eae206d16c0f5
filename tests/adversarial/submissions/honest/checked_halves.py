"""Two launches of one kernel on halves, concatenated by torch: plain copying, timed."""
# expected: CHECKED checked

import torch
from forging import scale


def custom_kernel(data):
    x, s = data
    half = x.shape[0] // 2
    return torch.cat([scale(x[:half], s[:half]), scale(x[half:], s[half:])])
