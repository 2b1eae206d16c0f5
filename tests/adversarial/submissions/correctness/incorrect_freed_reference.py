"""The answer is hoped to lie in memory that was just freed.

How: `torch.empty` gets the block in which the harness had its expected values; a Helion kernel touches it so that rules
are kept. Seen: Sakana AI's CUDA Engineer (2025-02); KernelBench's pull request 82 (2025-11). Defence: expected values
are in another process, and the memory is poisoned before each call.
"""
# expected: INCORRECT unwritten

import torch
from forging import decoy


def custom_kernel(data):
    return decoy(torch.empty(data[0].shape, device="cuda"))
