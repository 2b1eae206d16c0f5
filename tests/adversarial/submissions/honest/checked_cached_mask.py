"""A causal mask is made once and kept in a global: looks like precomputed answers."""
# expected: CHECKED checked
# cases: 2

import helion
import helion.language as hl
import torch

masks = {}


def mask_of(size):
    if size not in masks:
        masks[size] = torch.ones(size, size, device="cuda").tril()
    return masks[size]


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows, columns in hl.tile(x.shape):
        diagonal = mask[rows, 0]  # ones: the first column of a causal mask
        y[rows, columns] = x[rows, columns] * (s[rows] * diagonal)[:, None]
    return y


def custom_kernel(data):
    x, s = data
    return scale(x, s, mask_of(x.shape[0]))
