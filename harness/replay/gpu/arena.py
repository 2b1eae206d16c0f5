"""The arena: all of this process's GPU memory that a kernel could use to remember something.

Before each call it is rewritten in full with fresh poison: every slot, the spare that is larger than L2 (so that
rewriting it is the L2 flush too), and every free block of torch's allocator. After the call whatever is no tensor of
the plan must still hold that poison; a kernel that stored elsewhere is found by it.

One tile of poison, drawn anew for each call, is repeated over the arena. Nothing rests on it being secret: it is made
after the last call ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from harness.replay.gpu.program import Slot

TILE_BYTES = 32 << 20
SPARE_L2_MULTIPLE = 3
MIN_SPARE_BYTES = 256 << 20
_UNIT = 4  # bytes; what is compared at a time
_LOW, _HIGH = 0x7FF9, 0x7FFF  # as in replay.poison: every half of a word reads as a NaN of no arithmetic


@dataclass(frozen=True)
class Region:
    """A range of addresses."""

    start: int
    end: int


class _RawMemory:
    """Lets torch look at a range of device memory without owning it."""

    def __init__(self, start: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size // _UNIT,),
            "typestr": "<i4",
            "data": (start, False),
            "version": 3,
        }


class Arena:
    """Rewrites the memory around calls, and looks for stores that don't belong there."""

    def __init__(self, l2_bytes: int) -> None:
        self._device = torch.device("cuda", torch.cuda.current_device())
        self._generator = torch.Generator(self._device).manual_seed(int.from_bytes(os.urandom(7), "little"))
        self._tile = torch.empty(TILE_BYTES // _UNIT, dtype=torch.int32, device=self._device)
        tiles = -(-max(MIN_SPARE_BYTES, SPARE_L2_MULTIPLE * l2_bytes) // TILE_BYTES)
        self._spare = torch.empty(tiles * self._tile.numel(), dtype=torch.int32, device=self._device)
        self._reserved = -1
        self._rewritten: list[Any] = []
        self._pools: list[Region] = []

    @property
    def size_bytes(self) -> int:
        """How much memory is rewritten before a call."""
        return sum(int(view.numel()) for view in self._rewritten) * _UNIT

    def rewrite(self) -> None:
        """Draw a new tile and write it over everything."""
        halves = self._tile.view(torch.int16)
        torch.randint(_LOW, _HIGH, halves.shape, dtype=torch.int16, generator=self._generator, out=halves)
        self._survey()
        for view in self._rewritten:
            self._write(view)

    def flush(self) -> None:
        """Write the spare again, which leaves nothing else in L2.

        One kernel, long enough to launch a call behind it.
        """
        rows = self._spare.view(-1, self._tile.numel())
        rows.copy_(self._tile.expand_as(rows))

    def find_stray_store(self, slot: Slot) -> int | None:
        """Return an address outside of a slot's tensors that no longer holds poison, or None."""
        regions = list(self._foreign(slot))
        views = [_view(region) for region in regions]
        found = torch.stack([self._differs(region, view) for region, view in zip(regions, views, strict=True)])
        first = int(found.to(torch.int8).argmax()) if bool(found.any()) else -1
        return None if first < 0 else regions[first].start

    def _foreign(self, slot: Slot) -> Iterator[Region]:
        """Yield what a call in a slot must not touch: other slots, the spare, the gaps between its own tensors."""
        spare = self._spare.data_ptr()
        yield from _tiles(Region(spare, spare + self._spare.numel() * _UNIT), spare)
        own = sorted(slot.memory.intervals())
        for pool in self._pools:
            inside = [(start, end) for start, end in own if pool.start <= start < pool.end]
            if inside and slot.memory.temporaries:
                continue  # an operator of ours used memory there that the plan does not know of
            for gap in _gaps(pool, inside):
                yield from _tiles(gap, pool.start)

    def _differs(self, region: Region, view: torch.Tensor) -> torch.Tensor:
        base = next((pool.start for pool in self._pools if pool.start <= region.start < pool.end), None)
        origin = self._spare.data_ptr() if base is None else base
        offset = (region.start - origin) % TILE_BYTES // _UNIT
        return torch.ne(view, self._tile[offset : offset + view.numel()]).any()

    def _write(self, view: torch.Tensor) -> None:
        for start in range(0, view.numel(), self._tile.numel()):
            part = view[start : start + self._tile.numel()]
            part.copy_(self._tile[: part.numel()])

    def _survey(self) -> None:
        """List torch's memory again if there is more of it than last time."""
        reserved = torch.cuda.memory_reserved()
        if reserved == self._reserved:
            return
        self._reserved = reserved
        tile, spare = self._tile.data_ptr(), self._spare.data_ptr()
        self._rewritten, self._pools = [self._spare], []
        for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
            start, size = segment["address"], segment["total_size"]
            if tuple(segment["segment_pool_id"]) != (0, 0):
                self._pools.append(Region(start, start + size))
                self._rewritten.append(_view(self._pools[-1]))
            elif not start <= tile < start + size and not start <= spare < start + size:
                self._rewritten += [_view(region) for region in _free_blocks(segment)]


def _free_blocks(segment: dict[str, Any]) -> Iterator[Region]:
    address = segment["address"]
    for block in segment["blocks"]:
        if block["state"] == "inactive":
            yield Region(address, address + block["size"])
        address += block["size"]


def _gaps(pool: Region, intervals: list[tuple[int, int]]) -> Iterator[Region]:
    position = pool.start
    for start, end in [*intervals, (pool.end, pool.end)]:
        first, last = -(-position // _UNIT) * _UNIT, start // _UNIT * _UNIT
        if last > first:
            yield Region(first, last)
        position = max(position, end)


def _tiles(region: Region, origin: int) -> Iterator[Region]:
    """Cut a region where the tile begins anew."""
    start = region.start
    while start < region.end:
        end = min(region.end, origin + ((start - origin) // TILE_BYTES + 1) * TILE_BYTES)
        yield Region(start, end)
        start = end


def _view(region: Region) -> torch.Tensor:
    return torch.as_tensor(_RawMemory(region.start, region.end - region.start), device="cuda")
