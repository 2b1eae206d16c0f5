"""The score clock: CUPTI's record of when each node of a graph began and ended on the GPU.

One call is one graph launch; its span runs from the first node's start to the last one's end, gaps included. Without
the cupti package there is no clock, and a run is unranked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

_BUFFER_BYTES = 512 << 10  # of some thousand records; CUPTI asks for more where one is full


@dataclass(frozen=True)
class Span:
    """One graph launch: its length, and how many nodes were recorded."""

    span_us: float
    records: int


class SpanClock:
    """Collects the records of graph launches. Must be made before the first CUDA context."""

    def __init__(self) -> None:
        from cupti import cupti

        self._cupti = cupti
        self._records: list[tuple[int, int, int]] = []
        kinds = cupti.ActivityKind
        self._kinds = (kinds.CONCURRENT_KERNEL, kinds.MEMCPY, kinds.MEMSET)
        cupti.activity_register_callbacks(self._request, self._complete)

    def __enter__(self) -> SpanClock:
        """Record from here on: what the runner itself does between calls would be many records."""
        for kind in self._kinds:
            self._cupti.activity_enable(kind)
        return self

    def __exit__(self, *_: object) -> None:
        for kind in self._kinds:
            self._cupti.activity_disable(kind)

    def take(self) -> list[Span]:
        """Return the spans of the graph launches since the last time, in order. The GPU must be idle."""
        self._cupti.activity_flush_all(1)
        groups: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for correlation, start, end in self._records:
            groups[correlation].append((start, end))
        self._records.clear()
        ordered = sorted(groups.values(), key=min)
        return [Span((max(e for _, e in g) - min(s for s, _ in g)) / 1000, len(g)) for g in ordered]

    def _request(self) -> tuple[int, int]:
        return _BUFFER_BYTES, 0

    def _complete(self, activities: list[Any]) -> None:
        self._records += [(a.correlation_id, a.start, a.end) for a in activities if getattr(a, "graph_id", 0)]


def start_span_clock() -> tuple[SpanClock | None, str]:
    """Return the clock, or None and why there is none."""
    if find_spec("cupti") is None:
        return None, "cupti-python is not installed"
    try:
        return SpanClock(), ""
    except Exception as error:  # whatever CUPTI does not like about this machine
        return None, f"CUPTI does not work here: {type(error).__name__} {str(error)[:200]}"
