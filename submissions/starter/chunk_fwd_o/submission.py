#!POPCORN leaderboard gated_deltanet_chunk_fwd_o
#!POPCORN gpu B200
"""Gated DeltaNet's output: each program makes a tile of columns of one chunk's output."""

from functools import cache

import helion
import helion.language as hl
import torch
from task import input_t, output_t

# (B, T, H, K, V) -> the tile: columns of the output, and its warps.
CONFIGS = {
    (1, 64, 2, 64, 64): helion.Config(block_sizes=[32], num_warps=4),
    (1, 128, 2, 64, 64): helion.Config(block_sizes=[32], num_warps=4),
    (2, 128, 4, 64, 64): helion.Config(block_sizes=[32], num_warps=4),
    (1, 256, 4, 64, 128): helion.Config(block_sizes=[64], num_warps=4),
    (1, 64, 1, 64, 64): helion.Config(block_sizes=[8], num_warps=4),
    (2, 512, 3, 64, 64): helion.Config(block_sizes=[32], num_warps=4),
    (2, 1024, 3, 64, 64): helion.Config(block_sizes=[32], num_warps=4),
    (4, 2048, 8, 64, 64): helion.Config(block_sizes=[64], num_warps=4),
    (3, 1024, 4, 100, 100): helion.Config(block_sizes=[64], num_warps=4),
    (4, 1024, 4, 128, 128): helion.Config(block_sizes=[64], num_warps=4),
    (2, 1536, 4, 128, 128): helion.Config(block_sizes=[64], num_warps=4),
}
FALLBACK = helion.Config(block_sizes=[32], num_warps=4)


def chunk_output(
    q: torch.Tensor, k: torch.Tensor, v_new: torch.Tensor, h: torch.Tensor, g: torch.Tensor
) -> torch.Tensor:
    B, T, H, K = q.shape
    V = v_new.shape[-1]
    K = hl.specialize(K)
    o = torch.empty_like(v_new)
    for tile_b, chunk, tile_h, tile_v in hl.tile([B, T, H, V], block_size=[1, 64, 1, None]):  # chunks of 64 steps
        b, head = tile_b.begin, tile_h.begin
        queries = q[b, chunk, head, :]
        gates = g[b, chunk, head]
        causal = chunk.index[:, None] >= chunk.index[None, :]
        decay = torch.exp(torch.where(causal, gates[:, None] - gates[None, :], float("-inf")))
        weights = hl.dot(queries, k[b, chunk, head, :].T) * decay
        from_state = hl.dot(queries, h[b, chunk.id, head, :, tile_v]) * torch.exp(gates)[:, None]
        from_chunk = hl.dot(weights, v_new[b, chunk, head, tile_v])
        o[b, chunk, head, tile_v] = (from_state + from_chunk) * K**-0.5
    return o


@cache
def kernel_for(shape: tuple[int, ...]):
    return helion.kernel(chunk_output, config=CONFIGS.get(shape, FALLBACK), static_shapes=True)


def custom_kernel(data: input_t) -> output_t:
    q, k, v_new, h, g = data
    return kernel_for((*q.shape, v_new.shape[-1]))(q, k, v_new, h, g)
