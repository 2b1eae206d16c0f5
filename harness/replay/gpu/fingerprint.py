"""Comparing tensors in two processes without sending them: a sum over the bytes of each, with a key's random weights.

The key is told to the runner after the call, so no kernel can know what change would go unseen: of all changes that can
be made, each goes unseen by less than one key in 2**35. Both sides must run the same torch on the same GPU, as runner
and judge of one node do: how random numbers are laid out depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

_ROW = 1 << 10  # bytes; 2**10 products of two bytes each, signed, are far from the end of an int32
_SUMS = 8  # of each row, with weights of their own: what one misses by chance (one key in 256) the others see
_BLOCK = 32 * _ROW  # the product of matrices wants more than a few rows, and a whole number of these suits it
_LARGE_BYTES = 1 << 20  # what is smaller is copied to one place, which takes fewer launches; what is larger is not


def fingerprints(tensors: Sequence[torch.Tensor], key: int) -> list[int]:
    """Return the weighted sum of each tensor's bytes, modulo 2**64. All of them must lie on one device."""
    return begin_fingerprints(tensors, key).tolist() if tensors else []


def begin_fingerprints(tensors: Sequence[torch.Tensor], key: int) -> torch.Tensor:
    """Return the same as a tensor, which the GPU may still be at work on."""
    return weighted_sums(tensors, torch.Generator(tensors[0].device).manual_seed(key))


def weighted_sums(tensors: Sequence[torch.Tensor], generator: torch.Generator) -> torch.Tensor:
    """Return the fingerprints as a tensor, from a generator that is seeded with the key.

    Bytes are laid out in rows. A matrix of small weights makes a few sums of each row, a product for which GPUs have
    units; large weights sum those.
    """
    if not tensors:  # of a problem whose inputs are buffers
        return torch.empty(0, dtype=torch.int64, device=generator.device)
    every = [_bytes_of(tensor) for tensor in tensors]
    splits = [len(data) // _BLOCK * _BLOCK if len(data) >= _LARGE_BYTES else 0 for data in every]
    heads = [data[:split] for data, split in zip(every, splits, strict=True) if split]
    tails, sizes = _pad([data[split:] for data, split in zip(every, splits, strict=True)])
    columns = torch.randint(-128, 128, (_SUMS, _ROW), dtype=torch.int8, generator=generator, device=tails.device).t()
    parts = [part.view(-1, _ROW) for part in (tails, *heads) if len(part)]
    sums = torch.cat([torch._int_mm(part, columns) for part in parts]) if parts else columns.new_zeros(0, _SUMS)
    weighted = sums.to(torch.int64).mul_(_draw_weights(tuple(sums.shape), generator))
    rows = [size // _ROW for size in (*sizes, *map(len, heads))]
    totals = [part.sum() for part in torch.split(weighted, rows)]
    of_tails, of_heads = totals[: len(every)], iter(totals[len(every) :])
    pairs = zip(of_tails, splits, strict=True)
    return torch.stack([total + next(of_heads) if split else total for total, split in pairs])


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    whole = tensor.contiguous()
    return (whole if whole.data_ptr() % 16 == 0 else whole.clone()).reshape(-1).view(torch.int8)


def _pad(tails: list[torch.Tensor]) -> tuple[torch.Tensor, list[int]]:
    """Return a copy of all, one after another and each with zeros up to whole blocks, and how long each is then."""
    sizes = [-(-len(tail) // _BLOCK) * _BLOCK for tail in tails]
    padded = torch.zeros(sum(sizes), dtype=torch.int8, device=tails[0].device)
    for room, tail in zip(torch.split(padded, sizes), tails, strict=True):
        room[: len(tail)].copy_(tail)
    return padded, sizes


def _draw_weights(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Return odd numbers: an even one would hide a change of the highest bit."""
    drawn = torch.randint(-(1 << 62), 1 << 62, size, dtype=torch.int64, generator=generator, device=generator.device)
    return drawn.bitwise_or_(1)
