"""A tensor on the host.

How: a comparison that moves everything to the CPU does not mind, and no copy is timed. Seen: follows from loose checks.
Defence: outputs are on the GPU.
"""
# expected: INCORRECT wrong_output

import torch


def custom_kernel(data):
    return torch.zeros(data[0].shape, device="cpu")
