"""Per-group FP8 scaling: inputs and the result that a kernel must reach.

For every group of `group` neighbouring values of a row:

    s = max(largest |x| in the group, 1e-10) / 448
    q = x / s, held within -448 .. 448

q stays in float32: it is not rounded to the FP8 grid.

    x    (tokens, hidden)        float32
    x_q  (tokens, hidden)        float32, q
    x_s  (tokens, hidden/group)  float32, s

This file is the specification. It does not say how close is close enough (task.yml does) and knows nothing of
kernels. Every random number comes from the generator passed in.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

LARGEST = 448.0  # of FP8 E4M3
LIMITS = (448.0, 240.0, 57344.0)  # the largest values of E4M3, of its other form (FNUZ), and of E5M2
FACTORS = {"normal": 1.0, "hackathon-2026": 1.0, "large": 1e4, "tiny": 1e-6}  # of distributions that only scale
EPS = 1e-10  # keeps the scale of an all-zero group above zero


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input.

    Args:
        shape: sizes of tokens, hidden and group.
        distribution: one that task.yml names.
        generator: source of randomness; the tensor is made on its device.

    Returns:
        x alone: the output buffers are the harness's to make.
    """
    tokens, hidden, group = shape["tokens"], shape["hidden"], shape["group"]
    x = _normal((tokens, hidden // group, group), generator)
    x = x * FACTORS[distribution] if distribution in FACTORS else _shape(x, distribution, generator)
    return (x.reshape(tokens, hidden),)


def _shape(x: torch.Tensor, distribution: str, generator: torch.Generator) -> torch.Tensor:
    """Turn standard normal groups (tokens, groups, group) into those of a distribution."""
    match distribution:
        case "shifted":
            return x + 5
        case "negative":
            return -x.abs()
        case "outliers":
            return torch.where(_uniform(tuple(x.shape), generator) < 0.01, x * 1000, x)
        case "channels":
            return x * torch.where(_uniform((1, *x.shape[1:]), generator) < 0.01, 300, 1)
        case "one_hot":
            return _keep_one_per_group(x, generator)
        case "zero_groups":
            return _clear_every_third_group(x)
        case "denormals":
            return torch.where(_every_second_group(x), _denormals(tuple(x.shape), generator), x)
        case "below_eps":
            return x * 10 ** (-14 + 7 * _uniform((*x.shape[:2], 1), generator))
        case "at_limit":
            limits = torch.tensor(LIMITS, device=x.device)
            chosen = torch.randint(len(LIMITS), (*x.shape[:2], 1), generator=generator, device=x.device)
            return x / x.abs().amax(2, keepdim=True) * limits[chosen]
        case _:
            raise ValueError(f"fp8_quant has no distribution {distribution!r}")


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: x.
        shape: sizes of tokens, hidden and group.

    Returns:
        x_q: (tokens, hidden) float64, x_s: (tokens, hidden/group) float64.
    """
    (x,) = inputs
    groups = x.unflatten(1, (-1, shape["group"]))
    scale = groups.abs().amax(dim=2).double().clamp(min=EPS) / LARGEST
    scaled = (groups / scale[:, :, None]).clamp_(-LARGEST, LARGEST)  # float64, as the scale is
    return scaled.flatten(1), scale


def _normal(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.randn(size, generator=generator, device=generator.device, dtype=torch.float32)


def _uniform(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.rand(size, generator=generator, device=generator.device, dtype=torch.float32)


def _keep_one_per_group(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """x: (tokens, groups, group) -> the same with one random value of each group kept."""
    where = torch.randint(x.shape[2], (*x.shape[:2], 1), generator=generator, device=x.device)
    return torch.zeros_like(x).scatter(2, where, x.gather(2, where))


def _clear_every_third_group(x: torch.Tensor) -> torch.Tensor:
    """x: (tokens, groups, group) -> the same with every third group zero, counted over all rows."""
    number = torch.arange(x.shape[0] * x.shape[1], device=x.device).reshape(x.shape[0], x.shape[1], 1)
    return x * (number % 3 != 1)


def _every_second_group(x: torch.Tensor) -> torch.Tensor:
    """x: (tokens, groups, group) -> which groups, (tokens, groups, 1), counted over all rows."""
    number = torch.arange(x.shape[0] * x.shape[1], device=x.device).reshape(x.shape[0], x.shape[1], 1)
    return number % 2 == 1


def _denormals(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Numbers below float32's least normal one, 1.2e-38, by their bits: a sign and 23 bits of mantissa."""
    bits = torch.randint(1, 1 << 23, size, generator=generator, device=generator.device, dtype=torch.int32)
    sign = torch.randint(0, 2, size, generator=generator, device=generator.device, dtype=torch.int32)
    return (bits | (sign << 31)).view(torch.float32)
