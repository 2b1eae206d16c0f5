#!POPCORN leaderboard vector_add
#!POPCORN gpu B200
"""The plainest: one kernel, one config."""
from task import input_t, output_t

import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[64], num_warps=4, num_stages=1), static_shapes=True)
def add_one(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile] + 1.0
    return out


def custom_kernel(data: input_t) -> output_t:
    (x,) = data
    return add_one(x)
