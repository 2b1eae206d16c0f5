"""Gated DeltaNet's w and u: inputs and the result that a kernel must reach.

For each chunk of C = 64 steps, with A the chunk's (C, C) matrix, whose row i the tensor A holds at step i:

    w = A (k * beta * exp(g))
    u = A (v * beta)

    k     (B, T, H, K)  float32
    v     (B, T, H, V)  float32
    beta  (B, T, H)     float32
    A     (B, T, H, C)  float32, lower triangular with ones on the diagonal
    g     (B, T, H)     float32, log-decays summed within the chunk
    w     (B, T, H, K)  float32
    u     (B, T, H, V)  float32

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
    "model", "slow", "fast", "resets", "aligned", "one_hot", "negative", "sparse", "tiny", "writes",
    "mixed", "ungated", "shut", "edges", "hackathon-2026"
}  # fmt: skip


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input, as a layer would have it: A is the inverse that keys, betas and gates define.

    Args:
        shape: sizes of B, T, H, K and V.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        k, v, beta, A, g.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"recompute_w_u has no distribution {distribution!r}")
    B, T, H, K, V = (shape[axis] for axis in "BTHKV")
    k = chunked(_keys((B, T, H, K), distribution, generator))
    v = chunked(_values((B, T, H, V), distribution, generator))
    beta = chunked(_betas((B, T, H), distribution, generator))
    g = chunked(_log_decays((B, T, H), distribution, generator)).cumsum(dim=3)
    A = _inverse(k, beta, g)
    return tuple(unchunked(t).float().contiguous() for t in (k, v, beta, A, g))


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: k, v, beta, A, g.
        shape: sizes of B, T, H, K and V.

    Returns:
        w: (B, T, H, K) float64, u: (B, T, H, V) float64.
    """
    k, v, beta, A, g = (chunked(t.double()) for t in inputs)
    w = A @ (k * (beta * g.exp())[..., None])
    u = A @ (v * beta[..., None])
    return unchunked(w), unchunked(u)


def chunked(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H, ...) -> (B, H, N, C, ...)."""
    return x.unflatten(1, (-1, C)).movedim(3, 1)


def unchunked(x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, C, ...) -> (B, T, H, ...)."""
    return x.movedim(1, 3).flatten(1, 2)


def _keys(size: tuple[int, ...], distribution: str, generator: torch.Generator) -> torch.Tensor:
    """Keys (B, T, H, K) float64, of length 1 as layers make them."""
    B, T, H, K = size
    if distribution == "one_hot":
        return one_hot(torch.randint(K, (B, T, H), generator=generator, device=generator.device), K).double()
    k = _normal(size, generator)
    if distribution == "hackathon-2026":
        return k / math.sqrt(K)
    if distribution == "aligned":
        k = k + _normal((B, 1, H, K), generator)
    return normalize(k, dim=-1)


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
