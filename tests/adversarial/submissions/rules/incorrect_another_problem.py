"""Another problem's kernel is handed in.

How: by mistake, or for a harness that does not check. Seen: common. Defence: the form of the outputs.
"""
# expected: INCORRECT wrong_shape

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4]), static_shapes=True)
def row_sums(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty([x.size(0)], device=x.device)
    for rows in hl.tile(x.size(0)):
        y[rows] = x[rows, :].sum(-1)
    return y


def custom_kernel(data):
    return row_sums(data[0])
