#!POPCORN leaderboard gdn_forward
#!POPCORN gpu B200
"""Gated DeltaNet's forward pass as a chain of three kernels: w and u of each chunk, then states, then outputs.

Chunks depend on one another in the second alone. What goes from one kernel to the next (w, u, v_new and the states)
passes through memory: keeping it on the chip is what there is to gain.
"""

from functools import cache

import helion
import helion.language as hl
import torch
from task import input_t, output_t

C = 64  # steps of a chunk


def configs(columns_of_state: int, columns_of_output: int, *, stages: int = 2, warps: int = 4) -> list[helion.Config]:
    """Return a config for each kernel of the chain; the first one's tile is always a chunk of one head."""
    return [
        helion.Config(block_sizes=[], num_warps=warps),
        helion.Config(block_sizes=[columns_of_state], num_warps=4, num_stages=stages),
        helion.Config(block_sizes=[columns_of_output], num_warps=4),
    ]


# (B, T, H, K, V) -> the kernels' configs.
CONFIGS = {
    (1, 64, 2, 64, 64): configs(32, 32, stages=1),
    (2, 128, 4, 64, 64): configs(32, 32),
    (1, 256, 2, 64, 64): configs(32, 32),
    (1, 256, 4, 64, 128): configs(32, 64),
    (1, 512, 1, 64, 64): configs(32, 32),
    (2, 512, 3, 64, 64): configs(8, 32, stages=3),
    (2, 1024, 3, 64, 64): configs(8, 32, stages=3),
    (4, 2048, 8, 64, 64): configs(16, 64, stages=3, warps=8),
    (3, 1024, 4, 100, 100): configs(8, 64, warps=8),
    (4, 1024, 4, 128, 128): configs(8, 64, warps=8),
    (2, 1536, 4, 128, 128): configs(8, 64, stages=3, warps=8),
    (1, 1024, 4, 128, 128): configs(8, 64, warps=8),
}
FALLBACK = configs(8, 32, stages=1)


def w_and_u(
    k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor, A: torch.Tensor, g: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    B, T, H, K = k.shape
    hl.specialize(K)
    hl.specialize(v.shape[-1])
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


def states(k: torch.Tensor, w: torch.Tensor, u: torch.Tensor, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    B, T, H, K = k.shape
    V = u.shape[-1]
    K = hl.specialize(K)
    h = torch.empty([B, T // C, H, K, V], dtype=k.dtype, device=k.device)
    v_new = torch.empty_like(u)
    for tile_b, tile_h, tile_v in hl.tile([B, H, V], block_size=[1, 1, None]):
        b, head = tile_b.begin, tile_h.begin
        state = hl.zeros([K, tile_v])
        for chunk in hl.tile(T, block_size=64):
            h[b, chunk.id, head, :, tile_v] = state
            values = u[b, chunk, head, tile_v] - hl.dot(w[b, chunk, head, :], state)
            v_new[b, chunk, head, tile_v] = values
            last = g[b, chunk.begin + C - 1, head]
            kept = values * torch.exp(last - g[b, chunk, head])[:, None]
            state = state * torch.exp(last) + hl.dot(k[b, chunk, head, :].T, kept)
    return h, v_new


def outputs(q: torch.Tensor, k: torch.Tensor, v_new: torch.Tensor, h: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    B, T, H, K = q.shape
    V = v_new.shape[-1]
    K = hl.specialize(K)
    o = torch.empty_like(v_new)
    for tile_b, chunk, tile_h, tile_v in hl.tile([B, T, H, V], block_size=[1, 64, 1, None]):
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
def kernels_for(shape: tuple[int, ...]):
    chosen = zip((w_and_u, states, outputs), CONFIGS.get(shape, FALLBACK), strict=True)
    return [helion.kernel(function, config=config, static_shapes=True) for function, config in chosen]


def custom_kernel(data: input_t) -> output_t:
    q, k, v, beta, A, g = data
    transform, carry, attend = kernels_for((*k.shape, v.shape[-1]))
    w, u = transform(k, v, beta, A, g)
    h, v_new = carry(k, w, u, g)
    return attend(q, k, v_new, h, g)
