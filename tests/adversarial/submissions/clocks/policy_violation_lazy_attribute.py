"""As a lazy output, with the work in an attribute of an ordinary tensor.

How: the returned tensor is empty; a property patched into the class fills it when it is read. Seen: as lazy outputs.
Defence: what happens after the call is not in the plan.
"""
# expected: POLICY_VIOLATION no_helion_launch

import torch
from forging import scale

pending = {}
real = torch.Tensor.cpu


def read(tensor, *args, **options):
    if id(tensor) in pending:
        tensor.copy_(scale(*pending.pop(id(tensor))))
    return real(tensor, *args, **options)


torch.Tensor.cpu = read


def custom_kernel(data):
    y = torch.empty(data[0].shape, device="cuda")
    pending[id(y)] = data
    return y
