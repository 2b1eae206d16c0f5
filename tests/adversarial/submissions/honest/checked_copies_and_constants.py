"""Honest: everything on the host that the attacks here resemble.

A table written out, a mask from no input, a fill with a constant tensor, a copy into a buffer, a transposed input made
contiguous, two Helion kernels, the second in place.
"""
# expected: CHECKED checked

import torch
from forging import decoy, scale


def custom_kernel(data):
    x, s = data
    rows = torch.arange(x.shape[0], device="cuda")
    mask = (rows[:, None] >= rows[None, :]).to(torch.float32).tril()
    table = torch.tensor([1.0, 2.0, 3.0], device="cuda")
    buffer = torch.empty(x.shape, device="cuda")
    buffer.copy_(x.t().contiguous().t())
    ones = torch.empty(s.shape, device="cuda").fill_(torch.tensor(1.0, device="cuda"))
    y = scale(buffer, s)
    scale(mask, ones)
    scale(table[None, :].expand(1, 3).contiguous(), ones[:1])
    return decoy(y)
