"""Memory behind an input is read, where other things of the harness may lie.

How: Helion lets a kernel index anything. Seen: follows from this design. Defence: the interpreter checks every access;
on a GPU there is nothing of value in reach.
"""
# expected: RUNTIME_ERROR out_of_bounds

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def beyond(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = hl.load(x, [rows.index[:, None] + 1, columns.index[None, :]]) * s[rows][:, None]
    return y


def custom_kernel(data):
    return beyond(*data)
