"""Comparing a tensor in two processes without sending it: a sum over its words, weighted by a key's random numbers.

The key is told to the runner after the call, so no kernel can know what change would go unseen: of all changes that can
be made, each goes unseen by less than one key in 2**25. Both sides must run the same torch on the same GPU, as runner
and judge of one node do.
"""

from __future__ import annotations

import torch

# Of half a sum's width at most: what a weight shifts out of 64 bits is lost, and with it the highest bits of two words.
_WORDS = {8: torch.int32, 4: torch.int32, 2: torch.int16, 1: torch.uint8}
_ROW = 1 << 12  # words
_ROWS_AT_ONCE = 1 << 10  # 32 MB of products: what this leaves in torch's memory is rewritten before each call


def fingerprint(tensor: torch.Tensor, key: int) -> int:
    """Return the weighted sum of a tensor's bits, modulo 2**64."""
    return int(begin_fingerprint(tensor, key))


def begin_fingerprint(tensor: torch.Tensor, key: int) -> torch.Tensor:
    """Return the same as a tensor, which the GPU may still be at work on."""
    return weighted_sum(tensor, torch.Generator(tensor.device).manual_seed(key))


def weighted_sum(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return the fingerprint as a tensor, from a generator that is seeded with the key.

    Words are laid out in rows. One set of weights sums the words of each row, another one the rows: as hard to cancel
    as a weight for each word, and drawn in no time.
    """
    words = tensor.contiguous().reshape(-1).view(_WORDS[tensor.dtype.itemsize])
    whole = words.numel() // _ROW
    columns = _draw_weights(min(words.numel(), _ROW), generator, tensor.device)
    rows = _draw_weights(whole + 1, generator, tensor.device)
    matrix, rest = words[: whole * _ROW].view(whole, _ROW), words[whole * _ROW :]
    sums = [(part * columns).sum(1) for part in torch.split(matrix, _ROWS_AT_ONCE)] if whole else []
    sums.append((rest * columns[: rest.numel()]).sum().reshape(1))
    return torch.cat(sums).mul_(rows).sum()


def _draw_weights(count: int, generator: torch.Generator, device: torch.device) -> torch.Tensor:
    """Return odd numbers: an even one would hide a change of the highest bit."""
    drawn = torch.randint(-(1 << 62), 1 << 62, (count,), dtype=torch.int64, generator=generator, device=device)
    return drawn.bitwise_or_(1)
