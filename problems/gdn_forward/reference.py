"""Gated DeltaNet, whole: inputs and the result that a kernel must reach.

The chain of recompute_w_u, chunk_fwd_h and chunk_fwd_o. Per batch and head, for each chunk of C = 64 steps, with A the
chunk's (C, C) matrix, whose row i the tensor A holds at step i, and the state h (K, V) zero at first:

    w     = A (k * beta * exp(g))
    u     = A (v * beta)
    v_new = u - w h
    o     = (exp(g) * (q h)  +  P v_new) / sqrt(K)        P[i, j] = (q_i . k_j) exp(g_i - g_j) for i >= j, else 0
    h     = h exp(g_last) + k^T (v_new * exp(g_last - g))        g_last: g at the chunk's last step

    q, k  (B, T, H, K)  float32
    v     (B, T, H, V)  float32
    beta  (B, T, H)     float32
    A     (B, T, H, C)  float32, lower triangular with ones on the diagonal
    g     (B, T, H)     float32, log-decays summed within the chunk
    o     (B, T, H, V)  float32

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
    "model", "slow", "fast", "resets", "aligned", "one_hot", "negative", "sparse", "wide_queries", "tiny", "writes",
    "mixed", "ungated", "shut", "edges", "hackathon-2026"
}  # fmt: skip


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input, as a layer would have it: A is the inverse that keys, betas and gates define.

    Args:
        shape: sizes of B, T, H, K and V.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        q, k, v, beta, A, g.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"gdn_forward has no distribution {distribution!r}")
    B, T, H, K, V = (shape[axis] for axis in "BTHKV")
    q, k = (chunked(t) for t in _queries_and_keys((B, T, H, K), distribution, generator))
    v = chunked(_values((B, T, H, V), distribution, generator))
    beta = chunked(_betas((B, T, H), distribution, generator))
    g = chunked(_log_decays((B, T, H), distribution, generator)).cumsum(dim=3)
    A = _inverse(k, beta, g)
    return tuple(unchunked(t).float().contiguous() for t in (q, k, v, beta, A, g))


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: q, k, v, beta, A, g.
        shape: sizes of B, T, H, K and V.

    Returns:
        o: (B, T, H, V) float64.
    """
    q, k, v, beta, A, g = (chunked(t.double()) for t in inputs)
    w, u = recompute_w_u(k, v, beta, A, g)
    h, v_new = chunk_fwd_h(k, w, u, g)
    return (unchunked(chunk_fwd_o(q, k, v_new, h, g)),)


def recompute_w_u(
    k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor, A: torch.Tensor, g: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Apply each chunk's matrix to its gated keys and to its values: w (B, H, N, C, K), u (B, H, N, C, V)."""
    w = A @ (k * (beta * g.exp())[..., None])
    u = A @ (v * beta[..., None])
    return w, u


def chunk_fwd_h(
    k: torch.Tensor, w: torch.Tensor, u: torch.Tensor, g: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Carry the state from chunk to chunk: h at each chunk's start (B, H, N, K, V), v_new (B, H, N, C, V)."""
    h = k.new_zeros(*k.shape[:2], k.shape[-1], u.shape[-1])
    states, values = [], []
    for n in range(k.shape[2]):
        v_new = u[:, :, n] - w[:, :, n] @ h
        states.append(h)
        values.append(v_new)
        last = g[:, :, n, -1:]
        kept = v_new * (last - g[:, :, n]).exp()[..., None]
        h = h * last.exp()[..., None] + k[:, :, n].mT @ kept
    return torch.stack(states, dim=2), torch.stack(values, dim=2)


def chunk_fwd_o(
    q: torch.Tensor, k: torch.Tensor, v_new: torch.Tensor, h: torch.Tensor, g: torch.Tensor
) -> torch.Tensor:
    """Ask each chunk's state, and attend to the chunk itself: o (B, H, N, C, V)."""
    from_state = g.exp()[..., None] * (q @ h)
    gap = g[..., :, None] - g[..., None, :]
    later = torch.ones(C, C, dtype=torch.bool, device=q.device).triu(1)
    P = (q @ k.mT) * gap.masked_fill(later, -math.inf).exp()
    return (from_state + P @ v_new) / math.sqrt(q.shape[-1])


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
            direction = 0.5 * _normal((B, 1, H, K), generator)
            q, k = q + direction, k + direction
    return normalize(q, dim=-1), normalize(k, dim=-1)


def _values(size: tuple[int, ...], distribution: str, generator: torch.Generator) -> torch.Tensor:
    """Values (B, T, H, V) float64."""
    v = _normal(size, generator)
    match distribution:
        case "negative":
            return -v.abs()
        case "sparse":
            return v * (_uniform(size, generator) < 0.1)
        case "tiny":
            return v * 1e-3
        case _:
            return v


def _betas(size: tuple[int, ...], distribution: str, generator: torch.Generator) -> torch.Tensor:
    """Strength of each write (B, T, H) float64."""
    if distribution == "writes":
        return (_uniform(size, generator) < 0.5).double()
    if distribution == "edges":
        near = 1e-3 * _uniform(size, generator)
        return torch.where(_uniform(size, generator) < 0.5, near, 1 - near)
    return _normal(size, generator).sigmoid()


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
