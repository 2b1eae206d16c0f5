"""One benchmark costs nothing, and the geometric mean collapses.

How: the largest shape, which only the benchmark has, returns memory that nobody wrote. Seen: follows from scores that
are products. Defence: every timed call is checked, every shape's plan is held against the rules, and times below what
the hardware needs are IMPLAUSIBLE.
"""
# expected: POLICY_VIOLATION no_helion_launch
# cases: 3

import torch
from forging import scale


def custom_kernel(data):
    if data[0].shape[0] >= 64:
        return torch.empty(data[0].shape, device="cuda")
    return scale(*data)
