"""Memory behind the output is written.

How, seen, defence: as reading; on a GPU guards and everything that the plan does not own are compared after the call.
"""
# expected: RUNTIME_ERROR out_of_bounds

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def beyond(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
        hl.store(y, [rows.index[:, None] + 4, columns.index[None, :]], x[rows, columns])
    return y


def custom_kernel(data):
    return beyond(*data)
