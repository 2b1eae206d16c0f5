"""As above, without the kernel: memory that nobody wrote is returned.

How, seen: as above. Defence: an output must have been written by a Helion kernel.
"""
# expected: POLICY_VIOLATION no_helion_launch

import torch


def custom_kernel(data):
    return torch.empty(data[0].shape, device="cuda")
