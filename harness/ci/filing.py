"""Whose records are believed after a merge: those of the build, which rank nothing, and those of a replay.

The build's job has run submissions, and a GPU's machine has run their kernels: both leave hostile documents. A record
is filed only if it is of a submission that the merged checkout has, hash and problem version included; whether it ranks
is decided here, from the season's rules and what the replay says of itself, never from the record's own claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from harness.case import load_cases
from harness.ci.git import run_git
from harness.ci.report import MAX_REPORT_BYTES, Check, ReportError, believed, parse_bounded
from harness.engine.standing import Ranked, reasons_of_entry
from harness.sandbox import Level
from harness.spec import find_problem, load_season
from harness.store import Record, decode_record
from harness.submission import MAIN, load_submission
from harness.toolchain import EVALUATOR_VERSION, find_faults
from harness.verdict import Kind

MAX_RECORD_BYTES = MAX_REPORT_BYTES
_ID = re.compile(r"[0-9a-z]{14}")
_HASH = re.compile(r"[0-9a-f]{64}")
_MOMENT = re.compile(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ")


def file_build(record: Record, merged: Sequence[Check], root: Path) -> Record:
    """Return a record of the build if it may be filed.

    Args:
        record: of the build job's report.
        merged: what the merge changed, as this job has found itself.
        root: the merged checkout.

    Raises:
        ReportError: it is not of what was merged.
    """
    return believed(lambda: _expect_merged(record, merged, root))


def file_replay(content: bytes, built: Iterable[Record], merged: Sequence[Check], root: Path) -> Record:
    """Return the record of a replay, ranked if the season's rules let it.

    Args:
        content: what the GPU's machine wrote.
        built: from `file_build`; a replay is of something that was built, and right on a CPU.
        merged: what the merge changed, as this job has found itself.
        root: the merged checkout.

    Raises:
        ReportError: it is no record, or not of what was merged and built.
    """
    record = believed(lambda: decode_record(parse_bounded(content, MAX_RECORD_BYTES)))
    return believed(lambda: _rank(record, built, merged, root))


def _rank(record: Record, built: Iterable[Record], merged: Sequence[Check], root: Path) -> Record:
    check = _find_check(record, merged)
    submission = load_submission(root / check.path / MAIN, check.team)
    record = replace(record, normalised_source_sha256=submission.normalised_sha256)
    record = _expect_merged(record, merged, root)
    origin = next((b for b in built if b.artifact_key == record.artifact_key and b.accepted and _same(b, record)), None)
    if origin is None or record.artifact_key is None:
        raise ReportError(f"replay {record.id} is not of an artifact that was built here and accepted")
    why = _why_unranked(record, origin, _merged_at(root, check), root)
    passed = record.kind == Kind.PASSED.value
    return replace(record, ranked=passed and why is None, unranked_reason=why if passed else None)


def _expect_merged(record: Record, merged: Sequence[Check], root: Path) -> Record:
    check = _find_check(record, merged)
    submission = load_submission(root / check.path / MAIN, check.team)
    problem, season = find_problem(root, check.problem), load_season(root)
    stated = (record.source_sha256, record.problem_version, record.season, record.evaluator_version)
    if stated != (submission.sha256, problem.version, season.name, EVALUATOR_VERSION):
        raise ReportError(f"record {record.id} is of another source, problem version, season or evaluator")
    if record.program_sha256 and not _HASH.fullmatch(record.program_sha256):
        raise ReportError(f"record {record.id} names no program")
    if record.state != "finished" or record.verdict is None or not _has_moments(record):
        raise ReportError(f"record {record.id} is not finished")
    return record


def _find_check(record: Record, merged: Sequence[Check]) -> Check:
    if not _ID.fullmatch(record.id):
        raise ReportError("a record's id is none")
    found = next((check for check in merged if check.asks_for(record)), None)
    if found is None:
        raise ReportError(f"record {record.id} is of nothing that was merged")
    return found


def _has_moments(record: Record) -> bool:
    """Whether both moments are of the form that records have, and of the calendar."""
    for moment in (record.created, record.finished):
        if not moment or not _MOMENT.fullmatch(moment):
            return False
        try:
            _moment(moment)
        except ValueError:
            return False
    return True


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _same(one: Record, other: Record) -> bool:
    """Whether two records are of one submission, built to one program: what their machines say apart must agree."""
    return (one.team, one.problem, one.target, one.source_sha256, one.program_sha256) == (
        other.team, other.problem, other.target, other.source_sha256, other.program_sha256,
    )  # fmt: skip


def _level(record: Record) -> Level:
    try:
        return Level(record.sandbox_level)
    except ValueError:
        raise ReportError(f"record {record.id} names no sandbox level") from None


def _merged_at(root: Path, check: Check) -> datetime:
    """Return when a submission's folder came to the branch as it is: building it again later does not change that."""
    said = run_git(root, "log", "-1", "--first-parent", "--format=%cI", "HEAD", "--", check.path).decode().strip()
    if not said:
        raise ReportError(f"{check.path} is of no commit")
    return _moment(said)


def _why_unranked(record: Record, built: Record, merged_at: datetime, root: Path) -> str | None:
    """Return what keeps a replay off the ranking; None if nothing does."""
    season, problem = load_season(root), find_problem(root, record.problem)
    entry = Ranked(
        problem=record.problem,
        suite=record.suite,
        division=record.division,
        target=record.target,
        portable=False,  # such a build is not what the gate makes
        level=max(_level(built), _level(record), key=list(Level).index),  # the worse one
        suite_cases=len(load_cases(problem, record.suite)),
        toolchain_faults=find_faults(record.toolchain),
    )
    reasons = list(reasons_of_entry(entry, season, merged_at))
    if record.unranked_reason is not None:
        reasons.append(record.unranked_reason)
    if len(record.cases) < entry.suite_cases:
        reasons.append(f"{len(record.cases)} of the suite's {entry.suite_cases} cases were replayed")
    if record.score_us is None or record.score_us <= 0:
        reasons.append("no benchmark was timed, so there is no score")
    return "; ".join(reasons) or None
