"""Comparing a tensor in two processes without sending it: a sum over its words, weighted by a key's random numbers.

The key is told to the runner after the call, so no kernel can know what change would go unseen. Both sides must run the
same torch on the same GPU, as runner and judge of one node do.
"""

from __future__ import annotations

import torch

_WORDS = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}


def fingerprint(tensor: torch.Tensor, key: int) -> int:
    """Return the weighted sum of a tensor's bits, modulo 2**64."""
    return int(weighted_sum(tensor, torch.Generator(tensor.device).manual_seed(key)))


def weighted_sum(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return the fingerprint as a tensor, from a generator that is seeded with the key."""
    words = tensor.contiguous().view(_WORDS[tensor.dtype.itemsize]).reshape(-1)
    weights = torch.randint(
        -(1 << 62), 1 << 62, words.shape, dtype=torch.int64, generator=generator, device=tensor.device
    )
    return weights.bitwise_or_(1).mul_(words.to(torch.int64)).sum()
