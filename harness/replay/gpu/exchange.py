"""The memory that runner and judge share: the GPU's own where that can be handed over, else one pinned file.

It holds the current call's inputs on the way in, its outputs and the inputs as they are after it on the way out, and
nothing else. A kernel can reach it (it is mapped where kernels run), so the judge writes all of it anew for each call,
gaps too, and copies what came out before it looks at it. Through the GPU's memory 100 MB take 50 us, through a file
5 ms and more.
"""

from __future__ import annotations

import mmap

import torch

from harness.replay.gpu.layout import Part


class Exchange:
    """Shared memory, seen as tensors.

    Args:
        memory: all of it, flat, uint8.
        pinned: copies between it and the GPU are fast.

    Attributes:
        on_gpu: it is the GPU's own memory.
    """

    def __init__(self, memory: torch.Tensor, *, pinned: bool) -> None:
        self._bytes, self.pinned, self.on_gpu = memory, pinned, memory.is_cuda

    @classmethod
    def in_file(cls, descriptor: int, size_bytes: int) -> Exchange:
        """Map a file, and pin it, which makes copies fast; where that is refused they are slow."""
        memory = torch.frombuffer(mmap.mmap(descriptor, size_bytes), dtype=torch.uint8)
        runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        code = runtime.cudaHostRegister(memory.data_ptr(), size_bytes, 0)
        return cls(memory, pinned=int(code) == 0)

    def tensor(self, part: Part) -> torch.Tensor:
        """Return a view of one tensor. What is there can change at any time: don't judge by it."""
        flat = self._bytes[part.offset : part.offset + part.size_bytes]
        return flat.view(getattr(torch, part.dtype)).reshape(part.shape)

    def take(self, part: Part) -> torch.Tensor:
        """Return a copy of one tensor in this process's own GPU memory; synchronise before you look at it."""
        seen = self.tensor(part)
        return torch.empty(seen.shape, dtype=seen.dtype, device="cuda").copy_(seen, non_blocking=True)

    def wipe(self) -> None:
        """Overwrite all of it: nothing of a call is there in the next one."""
        self._bytes.fill_(0xA5)
