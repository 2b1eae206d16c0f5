"""The toy problem: s[c] = 0.9 s[c-1] + sum of chunk c-1; y = x exp(g) + s; n = number of positive x."""

from __future__ import annotations

import torch

print("a reference may print: this must not disturb the judge")


def generate(shape, distribution, generator):
    B, T, D = (shape[axis] for axis in "BTD")
    x = torch.randn(B, T, D, generator=generator, device=generator.device)
    g = -torch.rand(B, T, generator=generator, device=generator.device)
    return (x * 0 if distribution == "zero" else x), g


def reference(inputs, shape):
    print("so may its functions")
    x, g = (tensor.double() for tensor in inputs)
    sums = x.unflatten(1, (-1, 16)).sum(2)
    states = [torch.zeros_like(sums[:, 0])]
    for chunk in range(sums.shape[1] - 1):
        states.append(0.9 * states[-1] + sums[:, chunk])
    s = torch.stack(states, 1)
    y = x * g.exp()[..., None] + s.repeat_interleave(16, 1)
    return y, s, (x > 0).sum((1, 2)).double()
