"""One case checked on a CPU: a judge makes inputs, a runner executes, the judge compares.

The same here and on a node. The judge may be a process of its own or not; the runner always is one, and hostile: what
it says of the place of a fault is kept as far as it is plain. Imports no torch.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from harness.replay.cpu_runner import CpuRunner
from harness.replay.judgement import Judgement, MadeInputs
from harness.strict_json import number, text

MAX_PLACE_FACTS, MAX_PLACE_NAME, MAX_PLACE_CHARACTERS = 32, 64, 1000


class Judge(Protocol):
    """Who holds seeds and expected values: `judge_client.JudgeProcess` or `local_judge.LocalJudge`."""

    def make_inputs(self, shape: Mapping[str, int], distribution: str, seed: int, file: Path) -> MadeInputs:
        """Make the inputs of one call and write them to a file."""

    def compare(
        self, shape: Mapping[str, int], distribution: str, seed: int, file: Path, *, sampled: bool = False
    ) -> Judgement:
        """Judge a runner's file of outputs."""


@dataclass(frozen=True)
class Asked:
    """What is to be checked: a shape, with inputs of a distribution, in full or by a sample of its programs."""

    shape_id: str
    shape: Mapping[str, int]
    distribution: str
    sampled: bool
    time_limit_s: float


@dataclass(frozen=True)
class Checked:
    """What came of it.

    Attributes:
        status: "passed", "failed", or "not_run" where the interpreter could not run or finish it.
        seconds: the execution's alone.
        reason, message: why it failed or was not run.
        judgement: the judge's report, None if there was nothing to compare.
        where: what the runner says of the place of a fault.
    """

    status: str
    seed: int = 0
    seconds: float = 0.0
    programs_run: int = 0
    programs_total: int = 0
    reason: str = ""
    message: str = ""
    judgement: Judgement | None = None
    where: dict[str, Any] = field(default_factory=dict)


def check_case(runner: CpuRunner, judge: Judge, asked: Asked, position: int) -> Checked:
    """Check one case; of its files nothing is left.

    Args:
        runner: for the artifact.
        judge: for the problem.
        asked: the case.
        position: which case it is, the first being 0.
    """
    given, got = f"in-{position}.safetensors", f"out-{position}.safetensors"
    seed = secrets.randbits(63)
    try:
        judge.make_inputs(asked.shape, asked.distribution, seed, runner.scratch / given)
        started = time.monotonic()
        answer = runner.execute(
            position, asked.shape_id, given, got, sampled=asked.sampled, time_limit_s=asked.time_limit_s
        )
        seconds = round(time.monotonic() - started, 3)
        checked = conclude(answer, asked.time_limit_s)
        if checked is None:
            checked = _compare(judge, asked, seed, runner.scratch / got)
    finally:
        for name in (given, got):
            with suppress(OSError):  # whatever stands there now
                (runner.scratch / name).unlink()
    run, total = (int(number(answer, name)) for name in ("programs_run", "programs_total"))
    return replace(checked, seed=seed, seconds=seconds, programs_run=run, programs_total=total)


def conclude(answer: dict[str, Any], time_limit_s: float) -> Checked | None:
    """Return what a runner's answer settles; None if it is done, and its outputs are to be compared."""
    status, told = answer["status"], text(answer, "reason", 2000)
    where = _plain_place(answer.get("where"))
    if status in ("out_of_bounds", "fault"):
        return Checked("failed", reason=status, message=told + _describe_place(where), where=where)
    if status == "timeout":
        told = told or (
            f"it did not finish within {time_limit_s:g} s: instructions are interpreted here, so that a long loop "
            "takes long, and one without end never ends"
        )
        return Checked("not_run", reason="too_slow_on_cpu", message=told, where=where)
    if status == "unsupported":
        return Checked("not_run", reason="not_interpretable", message=told, where=where)
    return None


def _compare(judge: Judge, asked: Asked, seed: int, outputs: Path) -> Checked:
    judgement = judge.compare(asked.shape, asked.distribution, seed, outputs, sampled=asked.sampled)
    if judgement.passed:
        return Checked("passed", judgement=judgement)
    return Checked("failed", reason=str(judgement.reason), message=judgement.message, judgement=judgement)


def _plain_place(where: object) -> dict[str, Any]:
    """Return what a runner says of a place as far as it is plain: numbers, short texts, short lists of numbers.

    It is stored and shown. What is nested ever deeper would stop whatever writes it down.
    """
    if not isinstance(where, dict):
        return {}
    found = {name: value for name, value in where.items() if len(name) <= MAX_PLACE_NAME and _is_plain(value)}
    return dict(list(found.items())[:MAX_PLACE_FACTS])


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_PLACE_FACTS and all(_is_number(item) for item in value)
    return value is None or _is_number(value) or (isinstance(value, str) and len(value) <= MAX_PLACE_CHARACTERS)


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float)) and -(2**64) < value < 2**64


def _describe_place(where: dict[str, Any]) -> str:
    """Say where a fault happened, in the submission and in the generated Triton; the runner's words are hostile."""
    line, source = int(number(where, "source_line")), text(where, "source_text", 200)
    if not line:
        return ""
    origin = int(number(where, "origin_line"))
    own = f"\nFrom line {origin} of the submission: {text(where, 'origin_text', 200)}" if origin else ""
    shown = f": {source}" if source else ""
    return f"{own}\nIn {text(where, 'kernel', 100) or 'the kernel'}, line {line} of the generated Triton{shown}"
