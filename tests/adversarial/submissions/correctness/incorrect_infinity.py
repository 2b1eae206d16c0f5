"""Infinity, whose relative error is NaN.

How, seen, defence: as NaN.
"""
# expected: INCORRECT not_finite

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def infinite(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * 0.0 + float("inf")
    return y


def custom_kernel(data):
    return infinite(data[0])
