"""Ranges of GPU memory: what lies between tensors, and how poison is laid over it. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

TILE_BYTES = 32 << 20
"""Poison repeats after so many bytes, counted from the start of a pool of memory."""

WORD_BYTES = 4
"""What is compared at a time, at the edges of a plan's tensors."""


@dataclass(frozen=True)
class Region:
    """A range of addresses."""

    start: int
    end: int


def join_touching(regions: Iterable[Region]) -> list[Region]:
    """Return regions in order, those that touch as one: each costs a few launches."""
    joined: list[Region] = []
    for region in sorted(regions, key=lambda region: region.start):
        if joined and joined[-1].end == region.start:
            joined[-1] = Region(joined[-1].start, region.end)
        else:
            joined.append(region)
    return joined


def find_gaps(pool: Region, intervals: list[tuple[int, int]]) -> Iterator[Region]:
    """Yield what lies between intervals that are sorted by their start, in whole words."""
    position = pool.start
    for start, end in [*intervals, (pool.end, pool.end)]:
        first, last = -(-position // WORD_BYTES) * WORD_BYTES, start // WORD_BYTES * WORD_BYTES
        if last > first:
            yield Region(first, last)
        position = max(position, end)


def cut_into_tiles(region: Region, origin: int) -> Iterator[Region]:
    """Cut a region where the tile begins anew: what comes before, all whole tiles together, what is left."""
    before, after = ((address - origin) // TILE_BYTES for address in (region.start - 1, region.end))
    first, last = origin + (before + 1) * TILE_BYTES, origin + after * TILE_BYTES
    edges = [region.start, first, last, region.end] if first <= last else [region.start, region.end]
    yield from (Region(start, end) for start, end in pairwise(edges) if start < end)
