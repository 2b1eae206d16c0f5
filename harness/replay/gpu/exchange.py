"""The memory that runner and judge share: one file, mapped by both, pinned where the driver allows it.

It holds the current call's inputs on the way in and its outputs on the way out, and nothing else. A kernel can reach it
(pinned memory is mapped on the GPU), so the judge writes all inputs anew for each call and copies outputs out before it
looks at them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch

ALIGN = 512


@dataclass(frozen=True)
class Part:
    """One tensor in the exchange: where it begins, contiguous."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


class Exchange:
    """The mapped file. `descriptor` stays open, so that a child can inherit it."""

    def __init__(self, descriptor: int, size: int) -> None:
        self.descriptor, self.size = descriptor, size
        self._map = mmap.mmap(descriptor, size)
        self._bytes = torch.frombuffer(self._map, dtype=torch.uint8)
        self.pinned = False

    @classmethod
    def create(cls, size: int) -> Exchange:
        """Make the file, in memory."""
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = os.memfd_create("exchange", 0)
        os.ftruncate(descriptor, size)
        return cls(descriptor, size)

    def pin(self) -> None:
        """Pin the memory, which makes copies fast; where that is refused they are slow."""
        runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        code = runtime.cudaHostRegister(self._bytes.data_ptr(), self.size, 0)
        self.pinned = int(code) == 0

    def tensor(self, part: Part) -> torch.Tensor:
        """Return a view of one tensor."""
        dtype = getattr(torch, part.dtype)
        count = 1
        for size in part.shape:
            count *= size
        flat = self._bytes[part.offset : part.offset + count * dtype.itemsize]
        return flat.view(dtype).reshape(part.shape)


def lay_out(forms: Sequence[tuple[str, tuple[int, ...]]], start: int = 0) -> tuple[list[Part], int]:
    """Place tensors one after the other; return their parts and the end.

    Args:
        forms: dtype and shape of each.
        start: where the first begins.
    """
    parts = []
    for dtype, shape in forms:
        count = 1
        for size in shape:
            count *= size
        parts.append(Part(start, dtype, tuple(shape)))
        start += -(-count * getattr(torch, dtype).itemsize // ALIGN) * ALIGN
    return parts, start
