"""Which cases a check on a CPU still tries once others were not finished within their time limit. Imports no torch.

A loop without end, or one that is too long for an interpreter, costs every case its whole limit and tells the same each
time. So a case that is at least as large as an unfinished one is left out, and all that come after MOST_UNFINISHED of
them. Before that, a smaller one, or one of which only a sample of programs runs, may still be finished and is tried.
A case's size is the product of its axes. How one case is checked is `cpu_check`'s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.replay.cpu_check import Asked, Checked, Judge, check_case
from harness.replay.cpu_runner import CpuRunner

MOST_UNFINISHED = 2
LEFT_OUT = "left_out_as_too_slow"


class Patience:
    """What the cases of one check that were not finished say of those to come."""

    def __init__(self) -> None:
        self._unfinished: list[Asked] = []

    def check(self, runner: CpuRunner, judge: Judge, asked: Asked, position: int) -> Checked:
        """Check one case as `check_case` does, or say why it is left out."""
        why = why_left_out(asked, self._unfinished)
        if why:
            return Checked("not_run", reason=LEFT_OUT, message=why)
        checked = check_case(runner, judge, asked, position)
        # By our clock: what the interpreter refuses for its size is told at once, and costs nothing.
        if checked.reason == "too_slow_on_cpu" and checked.seconds >= asked.time_limit_s:
            self._unfinished.append(asked)
        return checked


def why_left_out(asked: Asked, unfinished: Sequence[Asked]) -> str:
    """Say why a case is not tried after those that were not finished; "" if it is."""
    for other in unfinished:
        if _size(asked) >= _size(other) and (other.sampled or not asked.sampled):
            return f"not tried: {other.shape_id}, which is no larger, was not finished within {other.time_limit_s:g} s"
    if len(unfinished) >= MOST_UNFINISHED:
        return f"not tried: {MOST_UNFINISHED} cases were not finished within their time limit"
    return ""


def tell_unchecked(unchecked: Sequence[tuple[str, str, str]]) -> str:
    """Say why test cases were not checked: what the first one met, and how many were left out for it.

    Args:
        unchecked: id, reason and message of each.
    """
    if not unchecked:
        return "the others were not chosen"
    case_id, _, message = unchecked[0]
    left_out = sum(reason == LEFT_OUT for _, reason, _ in unchecked)
    if not left_out:
        return f"{case_id}: {message}"
    more = "1 more was not tried, since it" if left_out == 1 else f"{left_out} more were not tried, since they"
    return f"{case_id}: {message}. {more} would hardly end in time either"


def _size(asked: Asked) -> int:
    return math.prod(asked.shape.values())
