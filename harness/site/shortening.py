"""A record cut to what one page can hold: whoever made it decided how much is in it. Pure.

What is cut is told. The whole record is in the terminal (`harness show`), and in the service's API.
"""

from __future__ import annotations

from dataclasses import replace

from harness.board.reading import gather_warnings
from harness.site.views import RecordView
from harness.store.record import CaseRecord, Record

_AXES = 12
_OUTPUTS = 8
_EXAMPLES = 8


def shorten(view: RecordView, items: int) -> RecordView:
    """Return a view with at most so many items of each kind, and a notice if there are more."""
    record = view.record
    lists = {"cases": record.cases, "kernels": record.kernels, "stages": record.stages, "warnings": record.warnings}
    long = [f"{len(found):,} {name}" for name, found in lists.items() if len(found) > items]
    notice = (f"Not all of it is shown here: it has {' and '.join(long)}.",) if long else ()
    return replace(view, record=_cut(record, items), notices=(*view.notices, *notice))


def _cut(record: Record, items: int) -> Record:
    verdict = record.verdict
    if verdict is not None:
        verdict = replace(verdict, traceback=verdict.traceback[:items])
    return replace(
        record,
        verdict=verdict,
        cases=tuple(_cut_case(case) for case in record.cases[:items]),
        kernels=record.kernels[:items],
        stages=record.stages[:items],
        warnings=tuple(gather_warnings(record.warnings)[:items]),
        toolchain=dict(list(record.toolchain.items())[:items]),
        machine=dict(list(record.machine.items())[:items]),
    )


def _cut_case(case: CaseRecord) -> CaseRecord:
    errors = tuple(replace(error, examples=error.examples[:_EXAMPLES]) for error in case.errors[:_OUTPUTS])
    return replace(case, errors=errors, shape=dict(list(case.shape.items())[:_AXES]))
