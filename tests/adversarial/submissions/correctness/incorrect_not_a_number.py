"""NaN, which compares as anything.

How: `|NaN - expected| > tolerance` is false, so that a check for excess finds none; or `equal_nan`. Seen: field guides
(2026-03). Defence: what is not within the tolerance is wrong, and NaN must be where the reference has it.
"""
# expected: INCORRECT not_finite

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def nan(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * 0.0 * float("inf")
    return y


def custom_kernel(data):
    return nan(data[0])
