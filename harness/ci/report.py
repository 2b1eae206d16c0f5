"""The gate's report: one JSON document with what a pull request changes, what is wrong with it, and a record per check.

The job that writes it belongs to the pull request in the end (its workflow is taken from there), so whoever reads a
report must take it for hostile: `parse_report` bounds its size, depth and numbers, checks its form, and refuses what a
job without a GPU cannot know. What passes is still the author's word: it is shown escaped, and ranks nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.ci.change import Fault
from harness.ci.examine import Entry
from harness.errors import HarnessError, StoreError, UsageError
from harness.store import Record
from harness.store.codec import decode, encode
from harness.strict_json import parse_strict
from harness.submission import check_team_name
from harness.target import target_names
from harness.verdict import Kind

FORMAT = 1
REPORT = "report.json"
MAX_REPORT_BYTES = 2 << 20
MAX_DEPTH = 12
MAX_ITEMS = 2000
MAX_TEXT = 20_000
MAX_INTEGER = 10**20  # seeds have 64 bits
MAX_CHECKS = 64
MAX_FAULTS = 500

RANKING_BYTES = 256 << 20
RANKING_CHECKS = 4096
"""A ranking run is of a season's every team: its report is bounded too, but far from what a season comes to."""

_CLAIMABLE = frozenset(kind.value for kind in Kind) - {Kind.PASSED.value}

T = TypeVar("T")


class ReportError(HarnessError):
    """A report is not of its form, or claims what it cannot know. It is hostile until proven otherwise."""


@dataclass(frozen=True)
class Check:
    """A submission that is to be checked for a target."""

    team: str
    problem: str
    folder: str
    target: str

    @property
    def path(self) -> str:
        """The submission's folder, from the repository's root."""
        return Entry(self.team, self.problem, self.folder).path

    def asks_for(self, record: Record) -> bool:
        """Whether a record is what this check came to."""
        return (record.team, record.problem, record.target) == (self.team, self.problem, self.target)


@dataclass(frozen=True)
class Report:
    """What the gate found.

    Attributes:
        head: hash of the commit that was looked at.
        checks: what is to be checked.
        records: of the checks that were done so far.
        removed: folders of submissions that go away.
        faults: what keeps the pull request from being taken; nothing is checked then.
        standing: what is wrong in the base already and left alone; it keeps nothing from being taken.
    """

    head: str
    checks: tuple[Check, ...] = ()
    records: tuple[Record, ...] = ()
    removed: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    standing: tuple[Fault, ...] = ()

    def record_of(self, check: Check) -> Record | None:
        """Return the record of a check, None if it was not done."""
        return next((record for record in self.records if check.asks_for(record)), None)

    @property
    def unfinished(self) -> tuple[Check, ...]:
        """The checks that were not done."""
        return tuple(check for check in self.checks if self.record_of(check) is None)

    @property
    def ours(self) -> bool:
        """Whether a check ended by the harness's fault or the machine's."""
        return any(record.kind == Kind.HARNESS_ERROR.value for record in self.records)

    @property
    def good(self) -> bool:
        """Whether everything was checked and accepted."""
        return not self.faults and not self.unfinished and all(record.accepted for record in self.records)


def encode_report(report: Report) -> dict[str, Any]:
    """Return a report's JSON document, its texts cut to what a reader takes."""
    document: dict[str, Any] = _cut({"format": FORMAT, **encode(report)})
    return document


def save_report(report: Report, folder: Path) -> Path:
    """Write report.json into a folder, which is made if need be."""
    path = folder / REPORT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(encode_report(report), indent=1), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return path


def load_report(folder: Path) -> Report:
    """Read the report.json that `save_report` wrote, of a ranking run perhaps: it may be larger than a pull request's.

    Raises:
        ReportError: it is missing or not valid.
    """
    path = folder / REPORT
    try:
        with path.open("rb") as file:
            content = file.read(RANKING_BYTES + 1)
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}") from None
    return parse_report(content, RANKING_BYTES, RANKING_CHECKS)


def parse_report(content: bytes, max_bytes: int = MAX_REPORT_BYTES, max_checks: int = MAX_CHECKS) -> Report:
    """Return the report that a document of anybody's holds; by default it is a pull request's.

    Raises:
        ReportError: it is too large, not of the form, or claims what it cannot know.
    """
    document = parse_bounded(content, max_bytes, max(MAX_ITEMS, max_checks))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReportError(f"not a report of format {FORMAT}")
    report = believed(lambda: decode(Report, document))
    if len(report.checks) > max_checks or max(len(report.faults), len(report.standing)) > MAX_FAULTS:
        raise ReportError(f"a report holds {max_checks} checks and {MAX_FAULTS} faults at most")
    for check in report.checks:
        _expect_check(check)
    for record in report.records:
        if not any(check.asks_for(record) for check in report.checks):
            raise ReportError("a record is of no check that the report names")
        _expect_record(record)
    if len({(r.team, r.problem, r.target) for r in report.records}) < len(report.records):
        raise ReportError("two records are of one check")
    return report


def parse_bounded(content: bytes, max_bytes: int, max_items: int = MAX_ITEMS) -> Any:
    """Return a JSON document of anybody's: not large, not deep, no name twice, numbers finite, integers not long.

    Raises:
        ReportError: it is not such a document.
    """
    if len(content) > max_bytes:
        raise ReportError(f"more than {max_bytes >> 10} KiB")
    try:
        document = parse_strict(content.decode("utf-8"))
    except ValueError as error:
        raise ReportError(f"not a JSON document ({type(error).__name__})") from None
    _expect_bounds(document, MAX_DEPTH, max_items)
    return document


def believed(read: Callable[[], T]) -> T:
    """Return what reading a bounded document, or judging its values, gives; what goes wrong is the document's fault.

    Raises:
        ReportError: it is not of its form.
    """
    try:
        return read()
    except ReportError:
        raise
    except StoreError as error:
        raise ReportError(str(error)[:500]) from None
    except Exception as error:  # our code on somebody's values, of the right types: nothing else can be to blame
        raise ReportError(f"its values make no sense ({type(error).__name__})") from None


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    too_long = isinstance(value, str) and len(value) > MAX_TEXT
    return f"{value[: MAX_TEXT - 20]}\n[cut here]" if too_long else value


def _expect_bounds(value: Any, depth: int, max_items: int) -> None:
    if isinstance(value, (dict, list)):
        if depth == 0 or len(value) > max_items:
            raise ReportError(f"nested deeper than {MAX_DEPTH}, or more than {max_items} items in one place")
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            _expect_bounds(item, depth - 1, max_items)
    elif isinstance(value, str) and len(value) > MAX_TEXT:
        raise ReportError(f"a text of more than {MAX_TEXT} characters")
    elif isinstance(value, float) and not math.isfinite(value):  # 1e999, say; a record writes infinity as a text
        raise ReportError("a number out of range")
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise ReportError("an integer out of range")


def _expect_check(check: Check) -> None:
    try:
        check_team_name(check.team)
    except UsageError as error:
        raise ReportError(str(error)) from None
    plain = all(part and part.isascii() and part.replace("_", "").replace("-", "").isalnum() for part in
                (check.problem, check.folder))  # fmt: skip
    if not plain or check.target not in target_names():
        raise ReportError("a check names no problem or no target")


def _expect_record(record: Record) -> None:
    """Hold a record against what a job without a GPU can say."""
    if record.state != "finished" or record.verdict is None or record.kind not in _CLAIMABLE:
        raise ReportError("a record has no verdict that a check on a CPU can give")
    if record.ranked or record.score_us is not None or any(case.timing for case in record.cases):
        raise ReportError("a record claims a score or a time: only a replay on a GPU gives one")
