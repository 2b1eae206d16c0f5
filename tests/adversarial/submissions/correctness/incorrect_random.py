"""Noise around the answer, for a check that tries until it passes.

How: random numbers in the kernel. Seen: follows from retries. Defence: nothing is tried twice for a better verdict, and
on a GPU two calls on equal inputs must agree.
"""
# expected: INCORRECT wrong_values

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def noisy(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        noise = hl.rand([rows, columns], seed=7)
        y[rows, columns] = x[rows, columns] * s[rows][:, None] + noise
    return y


def custom_kernel(data):
    return noisy(*data)
