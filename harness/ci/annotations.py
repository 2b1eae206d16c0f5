"""Which lines of a submission to mark, and with what: from a report's faults and verdicts. Pure.

The texts are the author's: whoever shows a mark escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.ci.change import Fault
from harness.ci.paths import shown
from harness.ci.report import Report
from harness.store import Record
from harness.submission import MAIN

MAX_MARKS = 50
"""GitHub takes as many annotations at once."""


@dataclass(frozen=True)
class Mark:
    """A message on a line of a file; on the first one where none is to blame, and on none without a path."""

    path: str
    line: int
    title: str
    message: str


def list_marks(report: Report) -> tuple[Mark, ...]:
    """Return what a report has to say about files: faults, and the line where each submission fell short.

    A submission that falls short on several targets alike is told once.
    """
    marks: dict[tuple[str, int, str], list[str]] = {}
    titles = {}
    for check in report.checks:
        record = report.record_of(check)
        if record is None or record.accepted or record.verdict is None:
            continue
        line, message = _place(record), record.verdict.message
        marks.setdefault((f"{check.path}/{MAIN}", line, message), []).append(check.target)
        titles[(f"{check.path}/{MAIN}", line, message)] = record.kind
    told = [Mark(path, line, f"{titles[path, line, message]} ({', '.join(targets)})", message)
            for (path, line, message), targets in marks.items()]  # fmt: skip
    return (*(_fault_mark(fault) for fault in report.faults), *told)[:MAX_MARKS]


def _fault_mark(fault: Fault) -> Mark:
    """Put a fault on its file; one of a folder names that, and stands on a file in it."""
    named = "" if fault.file == fault.path else f"{shown(fault.path)}: "
    return Mark(fault.file, 1, "not taken", f"{named}{fault.message}")


def _place(record: Record) -> int:
    """Return the line of submission.py that a verdict is about: the innermost of its own lines."""
    assert record.verdict is not None
    lines = [frame.line for frame in record.verdict.traceback if 0 < frame.line < 1_000_000]
    return lines[-1] if lines else 1
