"""Memory that forked workers share: tensors, counters, and notes of which bytes were stored.

Anonymous shared mappings need neither files nor /dev/shm, which a sandbox may lack.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field

import numpy as np
import torch
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.numerics import Array

_MOST_STORAGES = 4096  # as many as a plan may have tensors


def shared_bytes(size: int) -> torch.Tensor:
    """Return zeroed bytes that stay shared with processes forked later."""
    return torch.frombuffer(mmap.mmap(-1, max(size, 1)), dtype=torch.uint8)


def share_storages(tensors: dict[int, torch.Tensor], shared: set[int]) -> None:
    """Move the storages of tensors into shared memory, keeping which of them overlap.

    Args:
        tensors: the tensors; those that move are replaced.
        shared: addresses of the storages that have moved already; grows.
    """
    moved: dict[int, torch.Tensor] = {}
    for number, tensor in tensors.items():
        storage = tensor.untyped_storage()
        key = storage.data_ptr()
        if key in shared or not storage.nbytes():
            continue
        if key not in moved:
            moved[key] = shared_bytes(storage.nbytes())
            moved[key].untyped_storage().copy_(storage)
        tensors[number] = _at(moved[key], tensor)
    shared.update(memory.data_ptr() for memory in moved.values())


def _at(memory: torch.Tensor, model: torch.Tensor) -> torch.Tensor:
    place = torch.empty(0, dtype=model.dtype)
    return place.set_(memory.untyped_storage(), model.storage_offset(), model.shape, model.stride())


@dataclass
class StoredBytes:
    """Notes which bytes of some storages were stored to. Shared with forked workers.

    Attributes:
        marks: for each storage, by its address, one byte per byte: 1 where it was stored.
    """

    marks: dict[int, Array] = field(default_factory=dict)
    _touched: Array = field(default_factory=lambda: shared_bytes(_MOST_STORAGES).numpy())

    def watch(self, storages: dict[int, int]) -> None:
        """Watch storages, given as sizes in bytes by address."""
        for start, size in storages.items():
            if start not in self.marks:
                self.marks[start] = shared_bytes(size).numpy()

    def record(self, pointers: TensorHandle, mask: Array | None, itemsize: int) -> None:
        """Note a store of `itemsize` bytes at each address."""
        addresses = pointers.data.reshape(-1) if mask is None else pointers.data[mask]
        region = getattr(pointers.dtype, "region", None)
        for index, (start, marks) in enumerate(self.marks.items()):
            if region is not None and region.start != start:
                continue
            here = addresses[(addresses >= start) & (addresses < start + marks.size)]
            if here.size:
                self._touched[index] = 1
                for byte in range(itemsize):
                    marks[(here - np.uint64(start)).astype(np.int64) + byte] = 1

    def touched(self) -> set[int]:
        """Return the addresses of the storages that anything was stored to."""
        return {start for index, start in enumerate(self.marks) if self._touched[index]}

    def mask(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return which elements of a tensor in a watched storage were stored."""
        itemsize = tensor.element_size()
        marks = torch.from_numpy(self.marks[tensor.untyped_storage().data_ptr()])
        strides = [stride * itemsize for stride in tensor.stride()]
        return marks.as_strided(tensor.shape, strides, tensor.storage_offset() * itemsize).bool().contiguous()
