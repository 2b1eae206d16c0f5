"""One element in a hundred is far off.

How: for checks that allow a ratio of mismatches, or look at a mean. Seen: the event's evaluators allow a share of wrong
elements in some problems. Defence: the tolerance holds for every element.
"""
# expected: INCORRECT wrong_values

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def wild(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        first = (rows.index[:, None] + columns.index[None, :]) == 0
        y[rows, columns] = torch.where(first, 1000.0, x[rows, columns] * s[rows][:, None])
    return y


def custom_kernel(data):
    return wild(*data)
