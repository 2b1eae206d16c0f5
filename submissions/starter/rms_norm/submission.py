#!POPCORN leaderboard rms_norm
#!POPCORN gpu B200
"""RMSNorm of rows, with a weight: each program takes a whole row.

The starter: simple and right, so that a team begins with something that works. A table of configs, one for each shape,
would make it faster.
"""

import helion
import helion.language as hl
import torch
from task import input_t, output_t

EPS = 1e-5


@helion.kernel(config=helion.Config(block_sizes=[1], num_warps=4), static_shapes=True)
def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows in hl.tile(x.shape[0]):
        values = x[rows, :].to(torch.float32)
        mean_square = torch.sum(values * values, dim=1, keepdim=True) / x.shape[1]
        normalised = values * torch.rsqrt(mean_square + EPS)
        y[rows, :] = (normalised * weight[:].to(torch.float32)[None, :]).to(x.dtype)
    return y


def custom_kernel(data: input_t) -> output_t:
    x, weight = data
    return rms_norm(x, weight)
