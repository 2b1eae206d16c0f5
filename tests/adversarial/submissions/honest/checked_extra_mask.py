"""A mask of the author's own at a load: looks like leaving elements out."""
# expected: CHECKED checked

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows, columns in hl.tile(x.shape):
        inside = (columns.index < x.size(1))[None, :] & (rows.index < x.size(0))[:, None]
        y[rows, columns] = hl.load(x, [rows, columns], extra_mask=inside) * s[rows][:, None]
    return y


def custom_kernel(data):
    return scale(*data)
