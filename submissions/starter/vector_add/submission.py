#!POPCORN leaderboard vector_add
#!POPCORN gpu B200
"""The sum of two vectors: each program adds one tile of them."""

from functools import cache

import helion
import helion.language as hl
import torch
from task import input_t, output_t

# (n,) -> the tile: elements per program, and its warps.
CONFIGS = {
    (7,): helion.Config(block_sizes=[32], num_warps=1),
    (1000,): helion.Config(block_sizes=[256], num_warps=2),
    (4099,): helion.Config(block_sizes=[256], num_warps=2),
    (98432,): helion.Config(block_sizes=[512], num_warps=4),
    (2000003,): helion.Config(block_sizes=[1024], num_warps=4),
    (16777216,): helion.Config(block_sizes=[1024], num_warps=4),
}
FALLBACK = helion.Config(block_sizes=[1024], num_warps=4)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.shape[0]):
        out[tile] = x[tile] + y[tile]
    return out


@cache
def kernel_for(shape: tuple[int, ...]):
    return helion.kernel(vector_add, config=CONFIGS.get(shape, FALLBACK), static_shapes=True)


def custom_kernel(data: input_t) -> output_t:
    x, y = data
    return kernel_for(tuple(x.shape))(x, y)
