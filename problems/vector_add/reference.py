"""The sum of two vectors: inputs and the result that a kernel must reach.

    out[i] = x[i] + y[i]

    x    (n,)  float32
    y    (n,)  float32
    out  (n,)  float32

This file is the specification. It does not say how close is close enough (task.yml does) and knows nothing of
kernels. Every random number comes from the generator passed in.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input.

    Args:
        shape: the size of n.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        x, y.
    """
    x, y = (torch.randn(shape["n"], generator=generator, device=generator.device) for _ in range(2))
    match distribution:
        case "normal":
            return x, y
        case "tiny":
            return x * 1e-6, y * 1e-6
        case "negative":
            return -x.abs(), -y.abs()
        case "cancelling":
            return x, y * 1e-3 - x
        case _:
            raise ValueError(f"vector_add has no distribution {distribution!r}")


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: x, y.
        shape: the size of n.

    Returns:
        out: (n,) float64.
    """
    x, y = (t.double() for t in inputs)
    return (x + y,)
