"""As above, with zeros instead of nothing.

How: the output begins as zeros, so that no poison shows. Seen, defence: as above.
"""
# expected: INCORRECT wrong_values

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[1, 16]), static_shapes=True)
def most(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(x.shape, device=x.device)
    for rows, columns in hl.tile([x.size(0) - 1, x.size(1)]):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
    return y


def custom_kernel(data):
    return most(*data)
