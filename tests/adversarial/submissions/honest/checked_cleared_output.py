"""The output begins as zeros, and the kernel adds to it: looks like an output that a fill wrote."""
# expected: CHECKED checked

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def add_scaled(y: torch.Tensor, x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = y[rows, columns] + x[rows, columns] * s[rows][:, None]
    return y


def custom_kernel(data):
    return add_scaled(torch.zeros_like(data[0]), *data)
