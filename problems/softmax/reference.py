"""Softmax of rows: inputs and the result that a kernel must reach.

    y[m, n] = exp(x[m, n] - largest[m]) / sum over j of exp(x[m, j] - largest[m]),   largest[m] = max over j of x[m, j]

    x  (M, N)  float16
    y  (M, N)  float16

The largest value cancels out; without it the exponentials leave the range of floating point.

This file is the specification. It does not say how close is close enough (task.yml does) and knows nothing of
kernels. Every random number comes from the generator passed in.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

LOWEST = -65504.0  # of float16


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input.

    Args:
        shape: sizes of M and N.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        x alone.
    """
    size = shape["M"], shape["N"]
    x = torch.randn(size, generator=generator, device=generator.device)
    match distribution:
        case "normal":
            pass
        case "large":
            x = x * 30
        case "flat":
            x = x * 1e-2
        case "equal":
            x[::2] = x[::2, :1]
        case "shifted":
            x = x + 100
        case "negative":
            x = x - 200
        case "ascending":
            x = x + torch.linspace(0, 8, shape["N"], device=x.device)
        case "outliers":
            where = torch.randint(shape["N"], (shape["M"], 1), generator=generator, device=x.device)
            x = x.scatter_add(1, where, torch.full_like(x[:, :1], 6))
        case "masked":
            x = torch.where(_seen(size, generator), x, LOWEST)
        case _:
            raise ValueError(f"softmax has no distribution {distribution!r}")
    return (x.half(),)


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64.

    Args:
        inputs: x alone.
        shape: sizes of M and N.

    Returns:
        y: (M, N) float64.
    """
    x = inputs[0].double()
    raised = torch.exp(x - x.amax(dim=1, keepdim=True))
    return (raised / raised.sum(dim=1, keepdim=True),)


def _seen(size: tuple[int, int], generator: torch.Generator) -> torch.Tensor:
    """(M, N): which columns a mask leaves: none of the first third, nearly three quarters of the rest, and the last."""
    columns = torch.arange(size[1], device=generator.device)
    kept = torch.rand(size, generator=generator, device=generator.device) < 0.75
    return kept & (columns >= size[1] // 3) | (columns == size[1] - 1)
