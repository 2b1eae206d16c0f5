"""What changed since a team's last and best record: pure, from records to lines that people read.

It reports what a person would want to hear of: another verdict or setting, a case that got right or wrong, times and
errors that moved by more than noise, compile time, registers and spills. Of runs of other cases it compares the cases
that both have, and nothing of the whole. It does not judge and does not rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.board.ranking import describe_difference
from harness.board.reading import status_word, worst_error
from harness.board.text import magnitude, microseconds, seconds
from harness.store.record import CaseRecord, KernelRecord, Record
from harness.store.store import Previous

TIME_NOISE = 0.01
ERROR_FACTOR = 2.0
COMPILE_SHARE, COMPILE_LEAST_S = 0.2, 1.0

_Moved: TypeAlias = tuple[KernelRecord, int, int]
"""A kernel, and a number of its compile report before and after."""


@dataclass(frozen=True)
class Change:
    """One line.

    Attributes:
        since: "last" or "best": which earlier record it is compared with.
        subject: what changed ("verdict", "case B1_T64", "registers of kernel in B1_T64", "registers").
        better: True or False where more or less is better, None where it is just different.
    """

    since: str
    subject: str
    before: str
    after: str
    better: bool | None = None


def list_changes(record: Record, previous: Previous) -> tuple[Change, ...]:
    """Compare a record with the team's last one, and in time with its best (where that is another)."""
    changes: list[Change] = []
    if previous.last is not None:
        changes += compare(previous.last, record, "last")
    if previous.best is not None and (previous.last is None or previous.best.id != previous.last.id):
        changes += _compare_setting(previous.best, record, "best")
        changes += _compare_times(previous.best, record, "best")
    return tuple(changes)


def compare(before: Record, after: Record, since: str) -> list[Change]:
    """List everything of note that differs between two records of one team."""
    return [
        *_compare_verdicts(before, after, since),
        *_compare_setting(before, after, since),
        *_compare_times(before, after, since),
        *_compare_cases(before, after, since),
        *_compare_builds(before, after, since),
        *_compare_kernels(before, after, since),
    ]


def _compare_verdicts(before: Record, after: Record, since: str) -> Iterator[Change]:
    if before.source_sha256 == after.source_sha256:
        yield Change(since, "source", "", "the same, byte for byte")
    if before.kind != after.kind and _of_the_same_cases(before, after):
        better = after.accepted if before.accepted != after.accepted else None
        yield Change(since, "verdict", before.kind, after.kind, better)


def _compare_setting(before: Record, after: Record, since: str) -> Iterator[Change]:
    if before.setting != after.setting:
        yield Change(since, "setting", describe_difference(before.setting, after.setting), "times are not comparable")


def _compare_times(before: Record, after: Record, since: str) -> Iterator[Change]:
    if before.setting != after.setting:
        return
    if before.score_us and after.score_us and _timed(before) == _timed(after):  # not where some cases were chosen
        yield from _time_change(since, "score", before.score_us, after.score_us)
    earlier = _by_id(before)
    for case in after.cases:
        old = earlier.get(case.case_id)
        if old and old.timing and case.timing:
            yield from _time_change(since, f"case {case.case_id}", old.timing.time_us, case.timing.time_us)


def _time_change(since: str, subject: str, before_us: float, after_us: float) -> Iterator[Change]:
    if abs(after_us - before_us) > TIME_NOISE * before_us:
        share = f"{after_us / before_us - 1:+.1%}"
        after = f"{microseconds(after_us)} µs ({share})"
        yield Change(since, subject, f"{microseconds(before_us)} µs", after, after_us < before_us)


def _compare_cases(before: Record, after: Record, since: str) -> Iterator[Change]:
    earlier = _by_id(before)
    for case in after.cases:
        old = earlier.get(case.case_id)
        if old is None:
            continue
        # Other differences (built, not run, partial) follow from where a run was made, and how far it came.
        if old.status != case.status and "failed" in (old.status, case.status):
            words = (status_word(old.status), status_word(case.status))
            yield Change(since, f"case {case.case_id}", *words, case.status != "failed")
        if _same_program(before, after):
            continue  # other seeds have other errors
        worst_before, worst_after = worst_error(old), worst_error(case)
        if worst_before and worst_after and not 1 / ERROR_FACTOR < worst_after / worst_before < ERROR_FACTOR:
            texts = [_error_text(worst) for worst in (worst_before, worst_after)]
            if texts[0] != texts[1]:
                better = math.isfinite(worst_after) and not worst_after >= worst_before
                yield Change(since, f"error of {case.case_id}", texts[0], texts[1], better)


def _error_text(worst: float) -> str:
    return f"{magnitude(worst)} times the tolerance" if math.isfinite(worst) else "not finite"


def _compare_builds(before: Record, after: Record, since: str) -> Iterator[Change]:
    if before.build is None or after.build is None or _shapes(before) != _shapes(after):
        return
    old_s, new_s = before.build.cpu_s, after.build.cpu_s
    if abs(new_s - old_s) > max(COMPILE_LEAST_S, COMPILE_SHARE * old_s):
        yield Change(since, "compile time (CPU)", seconds(old_s), seconds(new_s), new_s < old_s)


def _compare_kernels(before: Record, after: Record, since: str) -> Iterator[Change]:
    earlier = {(kernel.shape_id, kernel.name): kernel for kernel in before.kernels}
    pairs = [(earlier.get((kernel.shape_id, kernel.name)), kernel) for kernel in after.kernels]
    known = [(old, new) for old, new in pairs if old is not None]
    registers = _list_moved((new, old.registers, new.registers) for old, new in known)
    if registers:
        yield _fold_moved(since, "registers", registers)
    spilled = _list_moved((new, old.stack_bytes, new.stack_bytes) for old, new in known)
    if spilled:
        fewer = {after < before for _, before, after in spilled}
        yield _fold_moved(since, "spilled bytes", spilled, fewer.pop() if len(fewer) == 1 else None)


def _list_moved(numbers: Iterable[tuple[KernelRecord, int | None, int | None]]) -> list[_Moved]:
    """Keep the kernels whose number is known before and after, and is another."""
    return [(kernel, old, new) for kernel, old, new in numbers if old is not None and new is not None and old != new]


def _fold_moved(since: str, quantity: str, moved: Sequence[_Moved], better: bool | None = None) -> Change:
    """Write one line however many kernels and shapes an edit moved: "64..110", "80..128 in 7 shapes"."""
    names = list(dict.fromkeys(kernel.name for kernel, _, _ in moved))
    shapes = list(dict.fromkeys(kernel.shape_id for kernel, _, _ in moved))
    before, after = _span([old for _, old, _ in moved]), _span([new for _, _, new in moved])
    if len(moved) == 1:
        return Change(since, f"{quantity} of {names[0]} in {shapes[0]}", before, after, better)
    subject = quantity if len(names) == 1 else f"{quantity} of {len(names)} kernels"
    place = shapes[0] if len(shapes) == 1 else f"{len(shapes)} shapes"
    return Change(since, subject, before, f"{after} in {place}", better)


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least}..{most}"


def _of_the_same_cases(before: Record, after: Record) -> bool:
    """Say whether verdicts compare: a whole suite twice, however far its cases came, or the same choice of cases."""
    if before.suite != after.suite:
        return False
    whole = before.whole_suite and after.whole_suite
    return whole or (before.whole_suite == after.whole_suite and set(_by_id(before)) == set(_by_id(after)))


def _same_program(before: Record, after: Record) -> bool:
    return before.program == after.program or before.source_sha256 == after.source_sha256


def _timed(record: Record) -> set[str]:
    return {case.case_id for case in record.cases if case.timing}


def _shapes(record: Record) -> set[tuple[tuple[str, int], ...]]:
    return {tuple(case.shape.items()) for case in record.cases}


def _by_id(record: Record) -> dict[str, CaseRecord]:
    return {case.case_id: case for case in record.cases}
