"""What the sample problems share."""

import numpy
import torch

SPREAD = 2.0


def seeded(seed, device="cuda"):
    generator = torch.Generator(device=device)
    generator.manual_seed(seed)
    return generator


def compared_with(reference, rtol, atol):
    def compare(data, output):
        expected = reference(data)
        good = torch.allclose(output, expected, rtol=rtol, atol=atol)
        return good, "" if good else f"differs ({numpy.abs(0)})"

    return compare
