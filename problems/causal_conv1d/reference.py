"""Causal depthwise 1-D convolution: inputs and the result that a kernel must reach.

    out[b, d, t] = bias[d] + sum over j = 0 .. W-1 of weight[d, j] * x[b, d, t - (W-1) + j],   x[b, d, t < 0] = 0

Tap W-1 meets the present sample, tap 0 the sample W-1 steps before it.

    x       (B, D, S)  float32
    weight  (D, W)     float32
    bias    (D,)       float32
    out     (B, D, S)  float32

This file is the specification. It does not say how close is close enough (task.yml does) and knows nothing of
kernels. Every random number comes from the generator passed in.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input.

    Args:
        shape: sizes of B, D, S and W.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        x, weight, bias.
    """
    B, D, S, W = shape["B"], shape["D"], shape["S"], shape["W"]
    x = _normal((B, D, S), generator)
    weight = _normal((D, W), generator)
    bias = _normal((D,), generator)
    match distribution:
        case "normal" | "hackathon-2026":
            pass
        case "large":
            x = x * 100
        case "tiny":
            x, bias = x * 1e-4, bias * 1e-4
        case "shifted":
            x = x + 10
        case "sparse":
            x = x * (_uniform((B, D, S), generator) < 0.05)
        case "one_hot":
            x, bias = _one_hot_in_time(B, D, S, generator), torch.zeros_like(bias)
        case "impulses":
            x, bias = _impulses(B, D, S, 2 * W, generator), torch.zeros_like(bias)
        case "negative":
            x, weight, bias = -x.abs(), -weight.abs(), -bias.abs()
        case "early":
            x[:, :, W:] = 0
        case _:
            raise ValueError(f"causal_conv1d has no distribution {distribution!r}")
    return x, weight, bias


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: x, weight, bias.
        shape: sizes of B, D, S and W.

    Returns:
        out: (B, D, S) float64.
    """
    x, weight, bias = (t.double() for t in inputs)
    S, W = shape["S"], shape["W"]
    past = x.new_zeros(shape["B"], shape["D"], W - 1)
    padded = torch.cat([past, x], dim=2)  # padded[:, :, t + j] is x[:, :, t - (W-1) + j]
    out = bias[:, None].expand_as(x).clone()
    for j in range(W):
        out += weight[:, j, None] * padded[:, :, j : j + S]
    return (out,)


def _normal(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.randn(size, generator=generator, device=generator.device, dtype=torch.float32)


def _uniform(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.rand(size, generator=generator, device=generator.device, dtype=torch.float32)


def _one_hot_in_time(B: int, D: int, S: int, generator: torch.Generator) -> torch.Tensor:
    """x: (B, D, S), a single 1 per channel at a random time."""
    when = torch.randint(S, (B, D, 1), generator=generator, device=generator.device)
    return torch.zeros((B, D, S), device=generator.device).scatter(2, when, 1.0)


def _impulses(B: int, D: int, S: int, apart: int, generator: torch.Generator) -> torch.Tensor:
    """x: (B, D, S), a 1 every `apart` steps from a random one on: each channel's filter between zeros."""
    first = torch.randint(apart, (B, D, 1), generator=generator, device=generator.device)
    return (torch.arange(S, device=generator.device) % apart == first).float()
