"""The arena: all of this process's GPU memory that a kernel could use to remember something.

It holds poison: every slot, whatever else torch has, and the spare that is larger than L2, which is written last, when
a call's inputs are in place (that is the L2 flush, for the inputs too). After the call its own tensors are written
over; then every slot and the spare must hold poison all over, and a kernel that stored elsewhere is found by that. The
rest of torch's memory is written over, too. So what a call left is gone before the next one.

One tile of poison is repeated over the arena: another one for each call of a pair, and one for all timed calls of a
case. It is made again from its seed before it is looked for, since whoever can change the arena might change the tile
with it. Nothing rests on it being secret.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from weakref import WeakKeyDictionary

import torch

from harness.replay.gpu.cold_cache import ColdCache, new_tile
from harness.replay.gpu.device_memory import view_memory
from harness.replay.gpu.program import Slot
from harness.replay.gpu.regions import TILE_BYTES, WORD_BYTES, Region, cut_into_tiles, find_gaps, join_touching

_DRAWN_BYTES = 2 << 20  # the tile repeats what is drawn
_WIDE_BYTES = 2 * WORD_BYTES  # compared at a time where nothing stands in the way
_TORCHS_OWN = (0, 0)  # the pool of what is in no slot
_LOW, _HIGH = 0x7FF9, 0x7FFF  # as in replay.poison: every half of a word reads as a NaN of no arithmetic


@dataclass(frozen=True)
class _Piece:
    """A range of the arena, and the poison that belongs there, seen in the same shape."""

    start: int
    memory: torch.Tensor
    poison: torch.Tensor

    def write(self) -> None:
        """Write the poison. Not by a copy: the driver's own may not go over the edge of two allocations."""
        torch.bitwise_or(self.poison, 0, out=self.memory)


class Arena:
    """Rewrites the memory around calls, and looks for stores that don't belong there."""

    def __init__(self, l2_bytes: int) -> None:
        self._device = torch.device("cuda", torch.cuda.current_device())
        self._generator = torch.Generator(self._device)
        self._seed = 0
        self._tile = new_tile()
        rows = self._tile.view(-1, _DRAWN_BYTES // WORD_BYTES)
        self._drawn, self._repeated = rows[0], rows[1:]
        self._cold = ColdCache(self._tile, l2_bytes)
        self._segments = (-1, -1)
        self._counted: tuple[int, int] | None = None  # segments, if they were counted since the last call
        spare = self._cold.spare.view(torch.int64)
        self._spare = _Piece(spare.data_ptr(), spare, self._tile.view(torch.int64).expand_as(spare))
        self._searched: tuple[torch.Tensor, torch.Tensor] | None = None
        self._rest: list[_Piece] = []  # what torch has besides: nothing there is needed between calls
        self._pools: list[Region] = []  # of slots; those that touch are one
        self._slots: list[_Piece] = []  # the same in pieces
        self._blocks: list[tuple[tuple[int, int], Region]] = []  # what they are made of, by torch's name of the pool
        # A slot's own. Forgotten with the slot, whose memory this must not keep.
        self._own = WeakKeyDictionary[Slot, list[_Piece]]()

    def rewrite(self) -> None:
        """Draw another tile and write it over everything but the spare, which `flush` writes."""
        self._seed = int.from_bytes(os.urandom(7), "little")
        self._draw_tile()
        self._survey(_count_segments())
        for piece in (*self._slots, *self._rest):
            piece.write()

    def flush(self) -> None:
        """Write the spare, and leave nothing in L2 but parts of it."""
        self._cold.flush()

    def begin_search(self, slot: Slot) -> None:
        """Write the poison over what a call in a slot may store to, and have the GPU look where else it is gone.

        `rewrite` or `restore`, and `flush`, must have gone before the call; its outputs are gone after this.
        """
        self._draw_tile()
        for piece in self._find_own(slot):
            piece.write()
        searched = (self._spare, *self._slots)
        sizes = [piece.memory.numel() for piece in searched]
        changed = torch.empty(sum(sizes), dtype=torch.bool, device=self._device)
        for piece, place in zip(searched, torch.split(changed, sizes), strict=True):
            torch.ne(piece.memory, piece.poison, out=place.view(piece.memory.shape))
        self._searched = changed, changed.any()  # once for all: each launch costs as much as a few MB
        self._counted = _count_segments()  # which takes as long as the GPU's part

    def end_search(self) -> int | None:
        """Return the address of a store that was found, or None. Nothing of the search is left in memory then."""
        assert self._searched is not None
        (changed, any_did), self._searched = self._searched, None
        if not bool(any_did):
            return None
        searched = (self._spare, *self._slots)
        ends = accumulate(piece.memory.numel() for piece in searched)
        first = int(changed.view(torch.uint8).argmax())
        return next(piece.start for piece, end in zip(searched, ends, strict=True) if first < end)

    def restore(self) -> None:
        """Write the poison over what torch has besides. A search that found nothing went before."""
        segments, self._counted = self._counted or _count_segments(), None
        if segments != self._segments:
            self.rewrite()
            return
        for piece in self._rest:
            piece.write()

    def _draw_tile(self) -> None:
        halves = self._drawn.view(torch.int16)
        generator = self._generator.manual_seed(self._seed)
        torch.randint(_LOW, _HIGH, halves.shape, dtype=torch.int16, generator=generator, out=halves)
        self._repeated.copy_(self._drawn)

    def _find_own(self, slot: Slot) -> list[_Piece]:
        """Return what a call in a slot may store to, with the words that its edges lie in."""
        if slot not in self._own:
            own = list[_Piece]()
            for pool in self._pools:
                gaps = find_gaps(pool, self._own_intervals(pool, slot))
                between = find_gaps(pool, [(gap.start, gap.end) for gap in gaps])
                own += [piece for region in between for piece in self._cut(region, pool)]
            self._own[slot] = own
        return self._own[slot]

    def _own_intervals(self, pool: Region, slot: Slot) -> list[tuple[int, int]]:
        own = [(start, end) for start, end in slot.memory.intervals() if pool.start <= start < pool.end]
        if slot.memory.temporaries:  # operators of ours used memory there that the plan does not know of
            blocks = (block for name, block in self._blocks if name == slot.pool)
            own += [(block.start, block.end) for block in blocks if pool.start <= block.start < pool.end]
        return sorted(own)

    def _cut(self, region: Region, origin: Region) -> Iterator[_Piece]:
        """Yield a region in pieces over which the tile lies as it does over all that it is part of."""
        for part in cut_into_tiles(region, origin.start):
            wide = (part.start | part.end) % _WIDE_BYTES == 0
            words = torch.int64 if wide else torch.int32
            memory, offset = _view(part, words), (part.start - origin.start) % TILE_BYTES // words.itemsize
            poison = self._tile.view(words)[offset : offset + memory.shape[-1]]
            yield _Piece(part.start, memory, poison.expand_as(memory))

    def _survey(self, segments: tuple[int, int]) -> None:
        """List torch's memory again if any segment came or went since the last time."""
        if segments == self._segments:
            return
        self._segments = segments
        kept = [memory.data_ptr() for memory in (self._tile, self._cold.spare)]
        self._rest, self._blocks = [], []
        self._own.clear()
        for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
            start, size, name = segment["address"], segment["total_size"], tuple(segment["segment_pool_id"])
            if name != _TORCHS_OWN:
                self._blocks.append((name, Region(start, start + size)))
            elif not any(start <= address < start + size for address in kept):
                self._rest += self._cut(Region(start, start + size), Region(start, start + size))
        self._pools = join_touching(block for _, block in self._blocks)
        self._slots = [piece for pool in self._pools for piece in self._cut(pool, pool)]


def _count_segments() -> tuple[int, int]:
    """Return how many segments of memory torch has asked for so far, and how many it gave back."""
    statistics = torch.cuda.memory_stats_as_nested_dict()["segment"]["all"]
    return int(statistics["allocated"]), int(statistics["freed"])


def _view(region: Region, words: torch.dtype) -> torch.Tensor:
    """Return what lies there; whole tiles as the rows of a matrix."""
    memory = view_memory(region.start, region.end - region.start, words)
    return memory.view(-1, TILE_BYTES // words.itemsize) if memory.nbytes > TILE_BYTES else memory
