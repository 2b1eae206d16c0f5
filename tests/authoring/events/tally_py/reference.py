import numpy as np
import torch


def generate_input(size: int, crowd: int, seed: int):
    drawn = np.random.default_rng(seed).integers(0, 256, size)
    data = torch.tensor(np.where(drawn < crowd, 42, drawn), dtype=torch.uint8, device="cuda")
    spare = torch.empty(3, device="cuda")
    counts = torch.empty(256, dtype=torch.int64, device="cuda")
    return data.contiguous(), spare, counts


def ref_kernel(data):
    """What it is given for the counts stays as it is."""
    data, _, _ = data
    return torch.bincount(data, minlength=256)
