"""The last rows are left out.

How: the grid ends early, for a harness that samples. Seen: field guides (2026-03), as partial computation. Defence:
every element is compared, and unwritten ones hold poison.
"""
# expected: INCORRECT unwritten

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[1, 16]), static_shapes=True)
def most(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile([x.size(0) - 1, x.size(1)]):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
    return y


def custom_kernel(data):
    return most(*data)
