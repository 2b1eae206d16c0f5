"""Where each pointer may point: every load, store and atomic of a kernel is checked here.

A pointer keeps the identity of the argument it was made from, so that an overrun is told from a hit on the
neighbouring tensor. What may be touched is the argument's whole storage, because a GPU would allow that too.
A pointer of unknown origin (made from an integer) may point into any tensor of the launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.faults import OutOfBounds
from harness.replay.cpu.numerics import Array


@dataclass(frozen=True)
class Region:
    """The memory that one kernel argument stands for.

    Attributes:
        name: the argument's name.
        start: address of the first byte of its storage.
        end: address after the last byte of its storage.
        address: address of its first element.
        itemsize: bytes of an element.
        shape: its shape, for reports.
        dtype: its dtype's name, for reports.
        tensor: its number in the plan.
    """

    name: str
    start: int
    end: int
    address: int
    itemsize: int
    shape: tuple[int, ...]
    dtype: str
    tensor: int


class TrackedPointer(tl.pointer_type):  # type: ignore[misc]
    """A pointer type that remembers the region it points into."""

    def __init__(self, element_ty: Any, region: Region) -> None:
        super().__init__(element_ty)
        self.region = region

    __hash__ = tl.pointer_type.__hash__


class Bounds:
    """The regions of the launch that is running."""

    def __init__(self, regions: tuple[Region, ...] = ()) -> None:
        self._regions = sorted(regions, key=lambda region: region.start)
        self._starts = np.array([region.start for region in self._regions], np.uint64)
        self._ends = np.array([region.end for region in self._regions], np.uint64)

    def check(self, pointers: TensorHandle, mask: Array | None, itemsize: int, action: str) -> None:
        """Raise OutOfBounds unless every unmasked pointer lies in its region.

        Args:
            pointers: addresses.
            mask: which of them are used; None for all.
            itemsize: bytes touched at each address.
            action: "load", "store" or "atomic", for the report.
        """
        addresses = pointers.data
        if mask is not None and not mask.all():
            addresses = addresses[mask]
            if not addresses.size:
                return
        region = getattr(pointers.dtype, "region", None)
        if region is None:
            self._check_untracked(addresses, itemsize, action)
            return
        if int(addresses.min()) >= region.start and int(addresses.max()) + itemsize <= region.end:
            return
        wrong = (addresses < np.uint64(region.start)) | (addresses > np.uint64(region.end - itemsize))
        raise _out_of_bounds(region, int(addresses[wrong].flat[0]), action)

    def _check_untracked(self, addresses: Array, itemsize: int, action: str) -> None:
        at = np.searchsorted(self._starts, addresses, side="right").astype(np.int64) - 1
        wrong = (at < 0) | (addresses + np.uint64(itemsize) > self._ends[np.maximum(at, 0)])
        if not wrong.any():
            return
        where = {"action": action, "address_is": "outside of every tensor of the launch"}
        raise OutOfBounds(f"{action} outside of every tensor that the kernel was given", where)


def _out_of_bounds(region: Region, address: int, action: str) -> OutOfBounds:
    offset = address - 2**64 if address >= 2**63 else address
    index = (offset - region.address) // region.itemsize
    allocated = (region.end - region.address) // region.itemsize
    where = {
        "action": action,
        "argument": region.name,
        "tensor": region.tensor,
        "index": index,
        "allocated": allocated,
        "shape": list(region.shape),
        "dtype": region.dtype,
    }
    shape = "x".join(map(str, region.shape)) or "scalar"
    return OutOfBounds(
        f"{action} of {region.name}[{index}], which has {allocated} elements ({shape} {region.dtype})", where
    )
