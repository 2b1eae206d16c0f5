"""The times of a record's benchmarks in the terminal: what the table of cases has no room for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from harness.board import meanings
from harness.board.fitted import Column, FittedTable, Row, number_column
from harness.board.reading import clocks_text
from harness.board.text import microseconds, shape_names
from harness.store.record import CaseRecord, Record
from harness.text import clean

BASELINES = ("starter", "eager", "compile")
"""What a time is compared with, in this order; others that a record names come after."""

_FASTER = "\N{MULTIPLICATION SIGN}"


def render_times(record: Record, *, whole: str) -> RenderableType | None:
    """Return how each benchmark's calls scatter, how many times faster it is than what, and the GPU's clocks.

    Args:
        record: any.
        whole: the command to name where columns are left out for want of width.

    Returns:
        None if no benchmark was timed.
    """
    timed = [case for case in record.cases if case.timing]
    if not timed:
        return None
    baselines = _baselines(timed)
    columns = [
        Column("benchmark"), number_column("calls", 5), number_column("p10 µs", 8, meaning=meanings.P10),
        number_column("p90 µs", 8, meaning=meanings.P90), number_column("mean µs", 4, meaning=meanings.MEAN),
        number_column("floor µs", 6, meaning=meanings.FLOOR),
        *(number_column(f"{_FASTER} {name}", 7) for name in baselines),
    ]  # fmt: skip
    names = shape_names([case.shape for case in timed])
    rows = [_row(name, case, baselines) for name, case in zip(names, timed, strict=True)]
    parts: list[RenderableType] = [FittedTable(columns, rows, whole=whole)]
    if baselines:
        parts.append(Text(clean(f"{_FASTER}: how many times faster than {', '.join(baselines)}"), "dim"))
    if clocks := clocks_text(record):
        parts.append(Text(clean(f"clocks: {clocks}"), "dim"))
    return Group(*parts)


def _baselines(timed: Sequence[CaseRecord]) -> list[str]:
    named = {name for case in timed if case.timing for name in case.timing.speedups}
    return [*(name for name in BASELINES if name in named), *sorted(named - set(BASELINES))]


def _row(name: str, case: CaseRecord, baselines: Sequence[str]) -> Row:
    timing = case.timing
    assert timing is not None
    faster = (timing.speedups.get(baseline) for baseline in baselines)
    return [
        name,
        str(timing.samples),
        microseconds(timing.p10_us),
        microseconds(timing.p90_us),
        microseconds(timing.mean_us),
        microseconds(timing.floor_us),
        *("" if share is None else f"{share:.2f}" for share in faster),
    ]
