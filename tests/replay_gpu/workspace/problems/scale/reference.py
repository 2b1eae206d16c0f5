"""y[m, n] = x[m, n] s[m]"""

import torch


def generate(shape, distribution, generator):
    factor = 1000.0 if distribution == "large" else 1.0
    device = generator.device
    x = torch.randn(shape["M"], shape["N"], generator=generator, device=device) * factor
    return x, torch.randn(shape["M"], generator=generator, device=device)


def reference(inputs, shape):
    x, s = (t.double() for t in inputs)
    return (x * s[:, None],)
