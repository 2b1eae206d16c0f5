"""Gated DeltaNet's output: inputs and the result that a kernel must reach.

For each chunk of C = 64 steps, with h (K, V) the state at its start:

    o = (exp(g) * (q h)  +  P v_new) / sqrt(K)        P[i, j] = (q_i . k_j) exp(g_i - g_j) for i >= j, else 0

    q, k   (B, T, H, K)       float32
    v_new  (B, T, H, V)       float32
    h      (B, T/C, H, K, V)  float32
    g      (B, T, H)          float32, log-decays summed within the chunk
    o      (B, T, H, V)       float32

Chunked, a tensor is (B, H, N, C, ...), with N = T/C chunks.

This file is the specification. It does not say how close is close enough (task.yml does) and knows nothing of
kernels. Every random number comes from the generator passed in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch.nn.functional import normalize, one_hot, softplus

C = 64
DISTRIBUTIONS = {
    "model", "slow", "fast", "resets", "aligned", "one_hot", "negative", "state_only", "chunk_only",
    "wide_queries", "tiny", "mixed", "ungated", "shut", "hackathon-2026"
}  # fmt: skip


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input. The states are drawn, not computed, and so never zero unless the distribution says so.

    Args:
        shape: sizes of B, T, H, K and V.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        q, k, v_new, h, g.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"chunk_fwd_o has no distribution {distribution!r}")
    B, T, H, K, V = (shape[axis] for axis in "BTHKV")
    q, k = _queries_and_keys((B, T, H, K), distribution, generator)
    g = chunked(_log_decays((B, T, H), distribution, generator)).cumsum(dim=3)
    if distribution == "hackathon-2026":
        v_new, h = _event_values_and_states(chunked(k), g, V, generator)
    else:
        v_new, h = _values_and_states((B, T, H, K, V), distribution, generator)
    return tuple(t.float().contiguous() for t in (q, k, v_new, h, unchunked(g)))


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: q, k, v_new, h, g.
        shape: sizes of B, T, H, K and V.

    Returns:
        o: (B, T, H, V) float64.
    """
    q, k, v_new, h, g = (t.double() for t in inputs)
    q, k, v_new, g = (chunked(t) for t in (q, k, v_new, g))
    from_state = g.exp()[..., None] * (q @ h.movedim(2, 1))
    gap = g[..., :, None] - g[..., None, :]
    later = torch.ones(C, C, dtype=torch.bool, device=q.device).triu(1)
    P = (q @ k.mT) * gap.masked_fill(later, -math.inf).exp()
    return (unchunked(from_state + P @ v_new) / math.sqrt(shape["K"]),)


def chunked(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H, ...) -> (B, H, N, C, ...)."""
    return x.unflatten(1, (-1, C)).movedim(3, 1)


def unchunked(x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, C, ...) -> (B, T, H, ...)."""
    return x.movedim(1, 3).flatten(1, 2)


def _queries_and_keys(
    size: tuple[int, ...], distribution: str, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys (B, T, H, K) float64, of length 1 as layers make them."""
    B, T, H, K = size
    if distribution == "one_hot":
        hot = torch.randint(K, (2, B, T, H), generator=generator, device=generator.device)
        q, k = one_hot(hot, K).double()
        return q, k
    q, k = _normal(size, generator), _normal(size, generator)
    match distribution:
        case "hackathon-2026":
            return q / math.sqrt(K), k / math.sqrt(K)
        case "wide_queries":
            return q, normalize(k, dim=-1)
        case "aligned":
            direction = _normal((B, 1, H, K), generator)
            q, k = q + direction, k + direction
    return normalize(q, dim=-1), normalize(k, dim=-1)


def _values_and_states(
    size: tuple[int, ...], distribution: str, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """v_new (B, T, H, V) and h (B, T/C, H, K, V), float64, of the magnitude that the model's recurrence gives."""
    B, T, H, K, V = size
    v_new = 0.5 * _normal((B, T, H, V), generator)
    h = 0.5 * _normal((B, T // C, H, K, V), generator)
    match distribution:
        case "negative":
            return -v_new.abs(), -h.abs()
        case "state_only":
            return torch.zeros_like(v_new), h
        case "chunk_only":
            return v_new, torch.zeros_like(h)
        case "tiny":
            return v_new * 1e-3, h * 1e-3
        case _:
            return v_new, h


def _event_values_and_states(
    k: torch.Tensor, g: torch.Tensor, V: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """v_new and h as the event's gates leave them.

    Its decays take every state to zero within a chunk. So v_new is u, and h is what the chunk before wrote.

    Args:
        k: keys (B, H, N, C, K).
        g: summed log-decays (B, H, N, C).
        V: value size.
        generator: source of randomness.

    Returns:
        v_new: (B, T, H, V), h: (B, T/C, H, K, V), float64.
    """
    v = _normal((*g.shape, V), generator)
    beta = _normal(tuple(g.shape), generator).sigmoid()
    u = _inverse(k, beta, g) @ (v * beta[..., None])
    written = k.mT @ (u * (g[..., -1:] - g).exp()[..., None])
    h = torch.cat([torch.zeros_like(written[:, :, :1]), written[:, :, :-1]], dim=2)
    return unchunked(u), h.movedim(1, 2)


def _log_decays(size: tuple[int, ...], distribution: str, generator: torch.Generator) -> torch.Tensor:
    """Log-decay of each step (B, T, H) float64, at most 0."""
    match distribution:
        case "slow":
            return -1e-3 * _uniform(size, generator)
        case "fast":
            return -1 - 5 * _uniform(size, generator)
        case "resets":
            return torch.where(_uniform(size, generator) < 0.05, -5 - 25 * _uniform(size, generator), 0.0)
        case "mixed":
            return torch.where(_every_other(size[2], generator), -1e-3, -1 - 5 * _uniform(size, generator))
        case "ungated":
            return torch.zeros(size, dtype=torch.float64, device=generator.device)
        case "shut":
            return torch.where(_every_other(size[2], generator), 0.0, -100 - 900 * _uniform(size, generator))
        case "hackathon-2026":
            return -_normal(size, generator).abs().cumsum(dim=1)  # generate() sums a second time
        case _:
            return _model_log_decays(size, generator)


def _every_other(H: int, generator: torch.Generator) -> torch.Tensor:
    """Half of the heads, at random, and the odd one: (H,) bool."""
    return torch.randperm(H, generator=generator, device=generator.device) % 2 == 0


def _model_log_decays(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """-A softplus(a + dt_bias), with A in 1 .. 16 and softplus(dt_bias) = dt in 0.001 .. 0.1, log-uniform.

    These are the initial values of Mamba-2 and Gated DeltaNet layers. A and dt are spread over the heads in one
    random order, so that every input has heads which remember across chunks.
    """
    H = size[2]
    order = torch.randperm(H, generator=generator, device=generator.device)
    A = 1 + 15 * (order + _uniform((H,), generator)) / H
    dt = 1e-3 * 100 ** ((order + _uniform((H,), generator)) / H)
    dt_bias = dt.expm1().log()
    return -A * softplus(_normal(size, generator) + dt_bias)


def _inverse(k: torch.Tensor, beta: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """(I + L)^-1 with L[i, j] = beta_i (k_i . k_j) exp(g_i - g_j) below the diagonal: (B, H, N, C, C)."""
    eye = torch.eye(C, dtype=k.dtype, device=k.device)
    below = torch.ones_like(eye, dtype=torch.bool).tril(-1)
    gap = g[..., :, None] - g[..., None, :]
    decay = gap.masked_fill(~below, -math.inf).exp()
    lower = beta[..., None] * (k @ k.mT) * decay
    return torch.linalg.solve_triangular(eye + lower, eye.expand_as(lower), upper=False, unitriangular=True)


def _normal(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.randn(size, generator=generator, device=generator.device, dtype=torch.float64)


def _uniform(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.rand(size, generator=generator, device=generator.device, dtype=torch.float64)
