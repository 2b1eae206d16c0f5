"""The first call does the work of all, the others only look up.

How: inputs of the calls to come are collected and launched together, later calls return what is there. Seen:
gpu-mode/reference-kernels' pull request 104 (2026-02). Defence: the traced call is every call: one without a launch is
refused, one with all of them pays for all of them, each time.
"""
# expected: POLICY_VIOLATION no_helion_launch

import torch
from forging import scale

made = {}


def remember(data):
    made[0] = torch.empty(data[0].shape, device="cuda")


def custom_kernel(data):
    remember(data)  # "the learning phase"
    if len(made) > 1:
        scale(*data)
    return made[0]
