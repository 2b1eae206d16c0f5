"""y[m, n] = x[m, n] scale[m] + offset[m]"""

import torch


def generate(shape, distribution, generator):
    M, N = shape["M"], shape["N"]
    x, scale, offset = (torch.randn(size, generator=generator) for size in ((M, N), (M,), (M,)))
    if distribution == "wide":
        x = x * 10
    return x, scale, offset


def reference(inputs, shape):
    x, scale, offset = (t.double() for t in inputs)
    y = x * scale[:, None] + offset[:, None]
    return (y,)
