"""The verdict: one word on a submission, with what its author needs to act on it. Pure.

A verdict is made from what the stages report and from nothing else. Which kind a reason belongs to is decided here, in
a table for each stage, so that blame has one place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from harness.errors import HarnessError
from harness.frame import Frame


class Kind(str, Enum):
    """The possible verdicts."""

    PASSED = "PASSED"
    CHECKED = "CHECKED"
    BUILT = "BUILT"
    INCORRECT = "INCORRECT"
    COMPILE_ERROR = "COMPILE_ERROR"
    COMPILE_BUDGET_EXCEEDED = "COMPILE_BUDGET_EXCEEDED"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    TIMEOUT = "TIMEOUT"
    UNSTABLE = "UNSTABLE"
    UNTRACEABLE = "UNTRACEABLE"
    POLICY_VIOLATION = "POLICY_VIOLATION"
    IMPLAUSIBLE = "IMPLAUSIBLE"
    HARNESS_ERROR = "HARNESS_ERROR"

    def __str__(self) -> str:
        return self.value

    @property
    def exit_code(self) -> int:
        """0: passed, checked or built. 1: the submission fell short. 3: our fault."""
        if self in (Kind.PASSED, Kind.CHECKED, Kind.BUILT):
            return 0
        return 3 if self is Kind.HARNESS_ERROR else 1


@dataclass(frozen=True)
class Verdict:
    """The word, and its grounds.

    Attributes:
        kind: the word.
        stage: where it was decided: source, trace, policy, assemble, replay, judge; engine for our own faults.
        reason: a code that tools can count on.
        message: what happened and what to do, in sentences for the author.
        case: id of the case or shape at fault, "" if none.
        traceback: the submission's own frames, innermost last.
        details: further facts, plain JSON.
    """

    kind: Kind
    stage: str
    reason: str
    message: str
    case: str = ""
    traceback: tuple[Frame, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


OURS = "This is the harness's fault or the machine's, not the submission's; it counts against nobody."


def judge_ours(error: Exception) -> Verdict:
    """Return the verdict on a submission that an error of ours ended, or one of the machine's."""
    told = f"{error}" if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
    return Verdict(Kind.HARNESS_ERROR, "engine", type(error).__name__, f"{told}\n{OURS}")


def judge_source(reason: str, message: str, traceback: Sequence[Frame] = ()) -> Verdict:
    """Return the verdict on a file that cannot be a submission, seen before anything ran."""
    return Verdict(Kind.COMPILE_ERROR, "source", reason, message, "", tuple(traceback))


# Reasons of the trace that are not the ordinary COMPILE_ERROR.
_TRACE_KINDS = {
    "wrong_output": Kind.INCORRECT,
    "data_dependent": Kind.UNTRACEABLE,
    "data_pointer": Kind.UNTRACEABLE,
    "cuda_graph": Kind.UNTRACEABLE,
    "unsupported_operation": Kind.UNTRACEABLE,
    "unsupported_argument": Kind.UNTRACEABLE,
    "unsupported_dtype": Kind.UNTRACEABLE,
    "constant_too_large": Kind.UNTRACEABLE,
    "plan_too_large": Kind.UNTRACEABLE,
    "helion_interpreter": Kind.POLICY_VIOLATION,
    "tracer_failed": Kind.UNTRACEABLE,
    "harness_error": Kind.HARNESS_ERROR,
    "autotuning_refused": Kind.POLICY_VIOLATION,
    "patched_generator": Kind.POLICY_VIOLATION,
    "advanced_controls": Kind.POLICY_VIOLATION,
}


def judge_trace(
    reason: str, message: str, case: str = "", traceback: Sequence[Frame] = (), details: Mapping[str, Any] | None = None
) -> Verdict:
    """Return the verdict on a submission that the trace could not record."""
    kind = _TRACE_KINDS.get(reason, Kind.COMPILE_ERROR)
    return Verdict(kind, "trace", reason, message, case, tuple(traceback), details or {})


def judge_budget(
    stage: str,
    done: Mapping[str, float],
    running: Sequence[str],
    shapes: Sequence[str],
    budget_s: float,
    spent_s: float,
    wall_s: float | None = None,
) -> Verdict:
    """Return the verdict on a build whose compile budget is spent: what was done, what ran, what was left.

    Args:
        stage: "trace" or "assemble".
        done: CPU-seconds of each shape that was finished.
        running: shapes being worked on when it was stopped, or what else was.
        shapes: every shape, in order.
        budget_s: CPU-seconds allowed.
        spent_s: CPU-seconds used.
        wall_s: the backstop in wall time, where that is what ran out.
    """
    left = [shape for shape in shapes if shape not in done and shape not in running]
    allowed = f"compile budget of {budget_s:g} CPU-seconds" if wall_s is None else f"backstop of {wall_s:g} s wall time"
    if wall_s is not None or len(left) == len(shapes):  # it waits, or no shape was even begun
        advice = "Is there an endless loop?"
    elif stage == "trace" and not done:
        advice = "Is there an endless loop in custom_kernel? Else use fewer or simpler configs, or smaller tiles."
    else:
        advice = "Use fewer or simpler configs, or smaller tiles."
    message = (
        f"the {allowed} is spent ({spent_s:.0f} CPU-seconds used), {len(done)} of {len(shapes)} shapes done. {advice}"
        f"\ndone: {', '.join(f'{shape} {cpu_s:.1f} s' for shape, cpu_s in done.items()) or 'none'}"
        f"\nrunning: {', '.join(running) or 'none'}\nleft: {', '.join(left) or 'none'}"
    )
    details = {"done": dict(done), "running": list(running), "left": left, "budget_s": budget_s, "spent_s": spent_s}
    case = running[0] if running and running[0] in shapes else ""
    return Verdict(Kind.COMPILE_BUDGET_EXCEEDED, stage, "budget_spent", message, case, (), details)


def judge_policy(reason: str, message: str, case: str, traceback: Sequence[Frame] = ()) -> Verdict:
    """Return the verdict on a plan that its division does not allow."""
    return Verdict(Kind.POLICY_VIOLATION, "policy", reason, message, case, tuple(traceback))


_ASSEMBLY_KINDS = {"refused_operation": Kind.POLICY_VIOLATION, "kernel_timeout": Kind.TIMEOUT}


def judge_assembly(reason: str, message: str, case: str, traceback: Sequence[Frame] = ()) -> Verdict:
    """Return the verdict on a kernel that does not assemble."""
    kind = _ASSEMBLY_KINDS.get(reason, Kind.COMPILE_ERROR)
    return Verdict(kind, "assemble", reason, message, case, tuple(traceback))


_REPLAY_KINDS = {
    "out_of_bounds": Kind.RUNTIME_ERROR,
    "fault": Kind.RUNTIME_ERROR,
    "input_modified": Kind.RUNTIME_ERROR,
}


def judge_replay(reason: str, message: str, case: str, details: Mapping[str, Any] | None = None) -> Verdict:
    """Return the verdict on a case that ran and failed, or could not run to its end."""
    kind = _REPLAY_KINDS.get(reason, Kind.INCORRECT)
    return Verdict(kind, "replay" if kind is Kind.RUNTIME_ERROR else "judge", reason, message, case, (), details or {})


def judge_checked(passed: int, total: int, why_not: str = "") -> Verdict:
    """Return CHECKED if every test case of the suite passed, else BUILT with how many did and why not more."""
    if passed == total > 0:
        message = f"all {total} test cases pass on the CPU; unranked: ranking needs a replay on a GPU of the season"
        return Verdict(Kind.CHECKED, "judge", "checked", message)
    message = f"built; {passed} of {total} test cases checked on the CPU: {why_not}"
    return Verdict(Kind.BUILT, "replay", "not_all_checked", message)


# Faults of a replay on a GPU that count against the submission; every other one is the harness's or the machine's.
_GPU_KINDS = {
    "illegal_address": Kind.RUNTIME_ERROR,
    "misaligned_address": Kind.RUNTIME_ERROR,
    "misaligned_argument": Kind.RUNTIME_ERROR,
    "kernel_fault": Kind.RUNTIME_ERROR,
    "out_of_bounds": Kind.RUNTIME_ERROR,
    "out_of_memory": Kind.RUNTIME_ERROR,
    "out_of_resources": Kind.RUNTIME_ERROR,
    "grid_too_large": Kind.RUNTIME_ERROR,
    "invalid_launch": Kind.RUNTIME_ERROR,
    "unsupported_kernel": Kind.RUNTIME_ERROR,
    "timeout": Kind.TIMEOUT,
}


def judge_gpu_fault(reason: str, message: str, case: str, lines: Sequence[int] = ()) -> Verdict:
    """Return the verdict on a replay that a fault ended.

    Args:
        reason: the fault's code.
        message: what happened.
        case: where.
        lines: the submission's lines that launch the kernel at fault, if it is known.
    """
    kind = _GPU_KINDS.get(reason, Kind.HARNESS_ERROR)
    frames = tuple(Frame(line, "", "launches the kernel at fault") for line in lines)
    if kind is Kind.HARNESS_ERROR:
        message += f"\n{OURS}"
    return Verdict(kind, "replay", reason, message, case, frames if kind is not Kind.HARNESS_ERROR else ())


def judge_measured(reason: str, case: str, time_us: float, other_us: float, witness_us: float) -> Verdict:
    """Return the verdict on samples that can't be ranked.

    Args:
        reason: "mean_gap", "witness" or "faster_than_floor".
        case: which benchmark.
        time_us: its time by the score clock.
        other_us: the mean, or for "faster_than_floor" the floor.
        witness_us: the same by events.
    """
    if reason == "faster_than_floor":
        message = (
            f"{time_us:.2f} us is less than the {other_us:.2f} us that this GPU needs at the least to move the data "
            f"or to compute: something is not computed. If it is, tell the organisers: the floor is wrong then"
        )
        return Verdict(Kind.IMPLAUSIBLE, "judge", reason, message, case)
    if reason == "witness":
        both = f"{time_us:.2f} us by the GPU's records, {witness_us:.2f} us by events"
        message = f"the two clocks disagree, in a second runner too: {both}"
    else:
        message = (
            f"calls take very different times: {time_us:.2f} us without the slowest, {other_us:.2f} us with them; its "
            f"time must not depend on values, nor may some calls do the work of others"
        )
    return Verdict(Kind.UNSTABLE, "judge", reason, message, case)


def judge_passed(total: int, gpu: str, score_us: float | None, why_unranked: str | None) -> Verdict:
    """Return PASSED: every case is right on a GPU, and every benchmark was timed."""
    message = f"all {total} cases pass on {gpu}"
    message += f"; score {score_us:.2f} us" if score_us is not None else ""
    message += f"; unranked: {why_unranked}" if why_unranked else ""
    return Verdict(Kind.PASSED, "judge", "passed", message)
