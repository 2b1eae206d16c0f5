"""Where tensors lie in the memory that runner and judge share, and the making of that memory. Imports no torch."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass

from harness.dtypes import DTYPE_BYTES

ALIGN = 512


@dataclass(frozen=True)
class Part:
    """One tensor in the exchange: where it begins, contiguous."""

    offset: int
    dtype: str
    shape: tuple[int, ...]

    @property
    def size_bytes(self) -> int:
        """How long it is."""
        return math.prod(self.shape) * DTYPE_BYTES[self.dtype]


def lay_out(forms: Sequence[tuple[str, tuple[int, ...]]], start: int = 0) -> tuple[list[Part], int]:
    """Place tensors one after the other; return their parts and the end.

    Args:
        forms: dtype and shape of each.
        start: where the first begins.
    """
    parts = []
    for dtype, shape in forms:
        parts.append(Part(start, dtype, tuple(shape)))
        start += -(-parts[-1].size_bytes // ALIGN) * ALIGN
    return parts, start


def make_shared_file(size: int) -> tuple[int, int]:
    """Make a file in memory; return its descriptor and its size, rounded up to pages."""
    size = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    descriptor = os.memfd_create("exchange", 0)
    os.ftruncate(descriptor, size)
    return descriptor, size
