"""Right for the usual inputs only.

How: values are clamped to what a normal distribution gives. Seen: follows from a single distribution. Defence: several
distributions; this one fails where the inputs are large.
"""
# expected: INCORRECT wrong_values
# cases: 2

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def clamped(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = torch.clamp(x[rows, columns], -6.0, 6.0) * s[rows][:, None]
    return y


def custom_kernel(data):
    return clamped(*data)
