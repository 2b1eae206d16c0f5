"""Comparing a tensor in two processes without sending it: a sum over its bytes, weighted by a key's random numbers.

The key is told to the runner after the call, so no kernel can know what change would go unseen: of all changes that can
be made, each goes unseen by less than one key in 2**35. Both sides must run the same torch on the same GPU, as runner
and judge of one node do: how random numbers are laid out depends on it.
"""

from __future__ import annotations

import torch

_ROW = 1 << 10  # bytes; 2**10 products of two bytes each, signed, are far from the end of an int32
_SUMS = 8  # of each row, with weights of their own: what one misses by chance (one key in 256) the others see
_ROWS_AT_LEAST = 32  # the product of matrices wants more than a few, and a whole number of these suits it


def fingerprint(tensor: torch.Tensor, key: int) -> int:
    """Return the weighted sum of a tensor's bytes, modulo 2**64."""
    return int(begin_fingerprint(tensor, key))


def begin_fingerprint(tensor: torch.Tensor, key: int) -> torch.Tensor:
    """Return the same as a tensor, which the GPU may still be at work on."""
    return weighted_sum(tensor, torch.Generator(tensor.device).manual_seed(key))


def weighted_sum(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return the fingerprint as a tensor, from a generator that is seeded with the key.

    Bytes are laid out in rows. A matrix of small weights makes a few sums of each row, a product for which GPUs have
    units; large weights sum those.
    """
    whole = tensor.contiguous()
    data = (whole if whole.data_ptr() % 16 == 0 else whole.clone()).reshape(-1).view(torch.int8)
    columns = torch.randint(-128, 128, (_SUMS, _ROW), dtype=torch.int8, generator=generator, device=data.device).t()
    block = _ROWS_AT_LEAST * _ROW
    split = data.numel() // block * block
    rest = data.new_zeros(block)
    rest[: data.numel() - split].copy_(data[split:])
    parts = [part.view(-1, _ROW) for part in (data[:split], rest) if part.numel()]
    sums = torch.cat([torch._int_mm(part, columns) for part in parts]).to(torch.int64)
    return sums.mul_(_draw_weights(tuple(sums.shape), generator, data.device)).sum()


def _draw_weights(size: tuple[int, ...], generator: torch.Generator, device: torch.device) -> torch.Tensor:
    """Return odd numbers: an even one would hide a change of the highest bit."""
    drawn = torch.randint(-(1 << 62), 1 << 62, size, dtype=torch.int64, generator=generator, device=device)
    return drawn.bitwise_or_(1)
