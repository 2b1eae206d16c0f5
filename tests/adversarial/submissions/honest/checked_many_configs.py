"""A kernel with several configs, for a tuner that never comes: the first is taken."""
# expected: CHECKED checked

import helion
import helion.language as hl
import torch

CONFIGS = [helion.Config(block_sizes=[4, 16]), helion.Config(block_sizes=[1, 32], num_warps=1)]


@helion.kernel(configs=CONFIGS, static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
    return y


def custom_kernel(data):
    return scale(*data)
