"""The work is done when the process ends.

How: `atexit` launches the kernel; the call returns memory that will hold the result. Seen: as background threads.
Defence: as there; a traced shape's process ends without running exit handlers.
"""
# expected: POLICY_VIOLATION no_helion_launch

import atexit

import torch
from forging import scale


def custom_kernel(data):
    y = torch.empty(data[0].shape, device="cuda")
    atexit.register(lambda: y.copy_(scale(*data)))
    return y
