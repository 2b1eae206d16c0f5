"""The arena: all of this process's GPU memory that a kernel could use to remember something.

Before each call it is rewritten in full with fresh poison: every slot, every free block of torch's allocator, and last,
when the inputs are in place, the spare that is larger than L2 (which is the L2 flush, for the inputs too). After the
call whatever is no tensor of the plan must still hold that poison; a kernel that stored elsewhere is found by it.

One tile of poison, drawn anew for each call, is repeated over the arena. Nothing rests on it being secret: it is made
after the last call ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from harness.replay.gpu.cold_cache import ColdCache, new_tile
from harness.replay.gpu.device_memory import view_memory
from harness.replay.gpu.program import Slot
from harness.replay.gpu.regions import TILE_BYTES, WORD_BYTES, Region, cut_into_tiles, find_free_blocks, find_gaps

_DRAWN_BYTES = 2 << 20  # the tile repeats what is drawn
_WIDE_BYTES = 2 * WORD_BYTES  # compared at a time where nothing stands in the way
_LOW, _HIGH = 0x7FF9, 0x7FFF  # as in replay.poison: every half of a word reads as a NaN of no arithmetic


@dataclass(frozen=True)
class _Watched:
    """A range that a call must not touch, and the poison that it holds."""

    start: int
    memory: torch.Tensor
    poison: torch.Tensor


class Arena:
    """Rewrites the memory around calls, and looks for stores that don't belong there."""

    def __init__(self, l2_bytes: int) -> None:
        self._device = torch.device("cuda", torch.cuda.current_device())
        self._generator = torch.Generator(self._device).manual_seed(int.from_bytes(os.urandom(7), "little"))
        self._tile = new_tile()
        self._cold = ColdCache(self._tile, l2_bytes)
        self._segments = (-1, -1)
        self._counted: tuple[int, int] | None = None  # segments, if they were counted since the last call
        self._searched: tuple[list[_Watched], torch.Tensor] | None = None
        self._rewritten: list[torch.Tensor] = []
        self._pools: list[Region] = []
        self._watched: dict[int, list[_Watched]] = {}

    @property
    def size_bytes(self) -> int:
        """How much memory is rewritten before a call."""
        return sum(view.nbytes for view in (self._cold.spare, *self._rewritten))

    def rewrite(self) -> None:
        """Draw a new tile and write it over everything but the spare, which `flush` writes."""
        rows = self._tile.view(-1, _DRAWN_BYTES // WORD_BYTES)
        halves = rows[0].view(torch.int16)
        torch.randint(_LOW, _HIGH, halves.shape, dtype=torch.int16, generator=self._generator, out=halves)
        rows[1:].copy_(rows[0])
        segments, self._counted = self._counted or _count_segments(), None
        self._survey(segments)
        for memory in self._rewritten:
            memory.copy_(self._tile.view(torch.int64)[: memory.shape[-1]])

    def flush(self) -> None:
        """Write the spare, and leave nothing in L2 but parts of it."""
        self._cold.flush()

    def begin_search(self, slot: Slot) -> None:
        """Have the GPU look for what no longer holds poison outside of a slot's tensors.

        `rewrite` and `flush` must have gone before the call.
        """
        watched = self._watch(slot)
        changed = torch.stack([torch.ne(one.memory, one.poison).any() for one in watched])
        self._searched = watched, changed
        self._counted = _count_segments()  # which takes as long as the GPU's part

    def end_search(self) -> int | None:
        """Return the address of a store that was found, or None. Nothing of the search is left in memory then."""
        assert self._searched is not None
        (watched, changed), self._searched = self._searched, None
        return watched[int(changed.to(torch.int8).argmax())].start if bool(changed.any()) else None

    def _watch(self, slot: Slot) -> list[_Watched]:
        """Return what a call in a slot must not touch: other slots, the spare, the gaps between its own tensors."""
        key = id(slot)
        if key not in self._watched:
            regions = [(pool, part) for pool in self._pools for part in self._untouched(pool, slot)]
            spare = self._cold.spare.view(torch.int64)
            self._watched[key] = [_Watched(spare.data_ptr(), spare, self._tile.view(torch.int64))]
            self._watched[key] += [self._watch_region(pool, part) for pool, part in regions]
        return self._watched[key]

    def _watch_region(self, pool: Region, part: Region) -> _Watched:
        wide = (part.start | part.end) % _WIDE_BYTES == 0
        words = torch.int64 if wide else torch.int32
        memory, offset = _view(part, words), (part.start - pool.start) % TILE_BYTES // words.itemsize
        return _Watched(part.start, memory, self._tile.view(words)[offset : offset + memory.shape[-1]])

    def _untouched(self, pool: Region, slot: Slot) -> Iterator[Region]:
        own = sorted((start, end) for start, end in slot.memory.intervals() if pool.start <= start < pool.end)
        if own and slot.memory.temporaries:
            return  # an operator of ours used memory there that the plan does not know of
        for gap in find_gaps(pool, own):
            yield from cut_into_tiles(gap, pool.start)

    def _survey(self, segments: tuple[int, int]) -> None:
        """List torch's memory again if any segment came or went since the last time."""
        if segments == self._segments:
            return
        self._segments = segments
        kept = [memory.data_ptr() for memory in (self._tile, self._cold.spare)]
        self._rewritten, self._pools, self._watched = [], [], {}
        for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
            start, size = segment["address"], segment["total_size"]
            if tuple(segment["segment_pool_id"]) != (0, 0):
                self._pools.append(Region(start, start + size))
                self._rewrite_from_now_on(self._pools[-1])
            elif not any(start <= address < start + size for address in kept):
                for region in find_free_blocks(segment):
                    self._rewrite_from_now_on(region)

    def _rewrite_from_now_on(self, region: Region) -> None:
        self._rewritten += [_view(part, torch.int64) for part in cut_into_tiles(region, region.start)]


def _count_segments() -> tuple[int, int]:
    """Return how many segments of memory torch has asked for so far, and how many it gave back."""
    statistics = torch.cuda.memory_stats_as_nested_dict()["segment"]["all"]
    return int(statistics["allocated"]), int(statistics["freed"])


def _view(region: Region, words: torch.dtype) -> torch.Tensor:
    """Return what lies there; whole tiles as the rows of a matrix."""
    memory = view_memory(region.start, region.end - region.start, words)
    return memory.view(-1, TILE_BYTES // words.itemsize) if memory.nbytes > TILE_BYTES else memory
