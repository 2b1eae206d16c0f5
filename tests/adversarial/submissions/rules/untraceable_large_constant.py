"""A table of answers is written out.

How: a constant of many megabytes, computed elsewhere. Seen: field guides (2026-03), as hard-coded outputs. Defence:
inputs are random, and constants are small.
"""
# expected: UNTRACEABLE constant_too_large

import torch
from forging import decoy

table = torch.tensor([float(i) for i in range(300_000)], device="cuda")


def custom_kernel(data):
    x, _ = data
    return decoy(table[: x.numel()].view(x.shape).clone())
