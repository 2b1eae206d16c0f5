"""Zeros, which are close enough to many small numbers.

How: a Helion kernel that writes a constant. Seen: field guides (2026-03), as constant outputs; formulas whose results
vanish for the inputs that are tried. Defence: tolerances relative to the values, and distributions under which the
result does not vanish: qualification tries it for every problem.
"""
# expected: INCORRECT wrong_values

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def zeros(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = hl.zeros([rows, columns])
    return y


def custom_kernel(data):
    return zeros(data[0])
