#!POPCORN leaderboard gated_deltanet_recompute_w_u
#!POPCORN gpu B200
"""Gated DeltaNet's w and u: one program per chunk and head, two products with the chunk's matrix A."""

from functools import cache

import helion
import helion.language as hl
import torch
from task import input_t, output_t

# (B, T, H, K, V) -> the program's warps; its tile is always one chunk of one head.
CONFIGS = {
    (1, 64, 2, 64, 64): helion.Config(block_sizes=[], num_warps=4),
    (1, 128, 2, 64, 64): helion.Config(block_sizes=[], num_warps=4),
    (2, 128, 4, 64, 64): helion.Config(block_sizes=[], num_warps=4),
    (1, 256, 4, 64, 128): helion.Config(block_sizes=[], num_warps=4),
    (1, 64, 1, 64, 64): helion.Config(block_sizes=[], num_warps=4),
    (2, 512, 3, 64, 64): helion.Config(block_sizes=[], num_warps=4),
    (2, 1024, 3, 64, 64): helion.Config(block_sizes=[], num_warps=4),
    (4, 2048, 8, 64, 64): helion.Config(block_sizes=[], num_warps=8),
    (3, 1024, 4, 100, 100): helion.Config(block_sizes=[], num_warps=8),
    (4, 1024, 4, 128, 128): helion.Config(block_sizes=[], num_warps=8),
    (2, 1536, 4, 128, 128): helion.Config(block_sizes=[], num_warps=8),
}
FALLBACK = helion.Config(block_sizes=[], num_warps=4)


def w_and_u(
    k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor, A: torch.Tensor, g: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    B, T, H, K = k.shape
    V = v.shape[-1]
    hl.specialize(K)
    hl.specialize(V)
    w = torch.empty_like(k)
    u = torch.empty_like(v)
    for tile_b, chunk, tile_h in hl.tile([B, T, H], block_size=[1, 64, 1]):  # chunks of 64 steps
        b, head = tile_b.begin, tile_h.begin
        transform = A[b, chunk, head, :]
        strength = beta[b, chunk, head]
        reach = strength * torch.exp(g[b, chunk, head])
        w[b, chunk, head, :] = hl.dot(transform, k[b, chunk, head, :] * reach[:, None])
        u[b, chunk, head, :] = hl.dot(transform, v[b, chunk, head, :] * strength[:, None])
    return w, u


@cache
def kernel_for(shape: tuple[int, ...]):
    return helion.kernel(w_and_u, config=CONFIGS.get(shape, FALLBACK), static_shapes=True)


def custom_kernel(data: input_t) -> output_t:
    k, v, beta, A, g = data
    return kernel_for((*k.shape, v.shape[-1]))(k, v, beta, A, g)
