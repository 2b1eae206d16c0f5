"""The output is allocated by the host and passed in: looks like overwriting."""
# expected: CHECKED checked

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def scale_into(y: torch.Tensor, x: torch.Tensor, s: torch.Tensor) -> None:
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]


def custom_kernel(data):
    y = torch.empty_like(data[0])
    scale_into(y, *data)
    return y
