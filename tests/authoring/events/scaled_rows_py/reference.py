import torch
from task import input_t, output_t
from utils import SPREAD, compared_with, seeded


def generate_input(rows: int, columns: int, seed: int) -> input_t:
    generator = seeded(seed)
    # a comment that must come along
    x = torch.randn(rows, columns, device="cuda", generator=generator)
    factor = torch.rand(rows, device="cuda", generator=generator) * SPREAD
    return x, factor


def ref_kernel(data: input_t) -> output_t:
    x, factor = data
    return x * factor[:, None]


check_implementation = compared_with(ref_kernel, rtol=1e-4, atol=1e-5)
