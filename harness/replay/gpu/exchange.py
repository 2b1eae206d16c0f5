"""The memory that runner and judge share: one file, mapped by both, pinned where the driver allows it.

It holds the current call's inputs on the way in and its outputs on the way out, and nothing else. A kernel can reach it
(pinned memory is mapped on the GPU), so the judge writes all inputs anew for each call and copies outputs out before it
looks at them.
"""

from __future__ import annotations

import mmap

import torch

from harness.replay.gpu.layout import Part


class Exchange:
    """The mapped file."""

    def __init__(self, descriptor: int, size: int) -> None:
        self.size = size
        self._map = mmap.mmap(descriptor, size)
        self._bytes = torch.frombuffer(self._map, dtype=torch.uint8)
        self.pinned = False

    def pin(self) -> None:
        """Pin the memory, which makes copies fast; where that is refused they are slow."""
        runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        code = runtime.cudaHostRegister(self._bytes.data_ptr(), self.size, 0)
        self.pinned = int(code) == 0

    def tensor(self, part: Part) -> torch.Tensor:
        """Return a view of one tensor."""
        flat = self._bytes[part.offset : part.offset + part.size_bytes]
        return flat.view(getattr(torch, part.dtype)).reshape(part.shape)
