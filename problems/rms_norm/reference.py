"""RMSNorm of rows, with a weight: inputs, and the result that a kernel must reach.

    y[m, n] = x[m, n] / sqrt(mean over j of x[m, j]^2 + EPS) * weight[n]

    x       (M, N)  bfloat16
    weight  (N,)    bfloat16
    y       (M, N)  bfloat16

How close is close enough is for task.yml to say. This file knows nothing of kernels.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

EPS = 1e-5  # as in Llama 3


def generate(shape: Mapping[str, int], distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input.

    Args:
        shape: sizes of M and N.
        distribution: one that task.yml names.
        generator: source of randomness; the tensors are made on its device.

    Returns:
        x, weight.
    """
    rows, columns = shape["M"], shape["N"]
    device = generator.device
    x = torch.randn((rows, columns), generator=generator, device=device)
    weight = 1 + torch.randn((columns,), generator=generator, device=device) / 4
    if distribution == "normal":
        pass
    elif distribution == "large":
        x = x * 1000
    elif distribution == "near_eps":
        x = x * 3e-3
    elif distribution == "tiny":
        x = x * 1e-4
    elif distribution == "shifted":
        x = x + 2
    elif distribution == "outliers":
        where = torch.randint(columns, (rows, 1), generator=generator, device=device)
        x = x.scatter(1, where, 1000 * x.gather(1, where))
    elif distribution == "scattered":
        x = x * 10.0 ** torch.randint(-4, 5, (rows, 1), generator=generator, device=device)
    elif distribution == "padding":
        x = x * torch.randint(2, (rows, 1), generator=generator, device=device)
    elif distribution == "signed":
        weight = torch.randn((columns,), generator=generator, device=device)
    else:
        raise ValueError(f"rms_norm has no distribution {distribution!r}")
    return x.bfloat16(), weight.bfloat16()


def reference(inputs: tuple[torch.Tensor, ...], shape: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Compute the result in float64: x, weight -> y, (M, N) float64."""
    x, weight = (tensor.double() for tensor in inputs)
    mean_square = x.square().mean(dim=1, keepdim=True)
    return (x / torch.sqrt(mean_square + EPS) * weight,)
