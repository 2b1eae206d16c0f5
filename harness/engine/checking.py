"""The check on a CPU: the artifact's kernels run in Triton's interpreter, and the judge compares.

Two processes and this one between them. The runner is sandboxed and holds plans, sources and the current inputs; the
judge holds seeds, references and expected values. Tests run in full, benchmarks by sampled programs unless asked
otherwise.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.case import Case
from harness.engine.progress import Event, Listener
from harness.engine.worker import WorkerJob, available_cores, number, start_replay_worker, text
from harness.engine.workspace import scratch_folder
from harness.replay.judge_client import JudgeProcess
from harness.replay.judgement import Judgement
from harness.sandbox import Level
from harness.spec import Problem, Season

SAMPLED_PROGRAMS = 8
MAX_PLACE_FACTS, MAX_PLACE_NAME, MAX_PLACE_CHARACTERS = 32, 64, 1000
STATUSES = ("done", "out_of_bounds", "unsupported", "fault", "timeout")


@dataclass(frozen=True)
class CaseResult:
    """What came of one case.

    Attributes:
        status: "passed", "failed", or "not_run" where the interpreter could not run or finish it.
        sampled: only some programs ran; `programs_run` of `programs_total`.
        reason, message: why it failed or was not run.
        judgement: the judge's report, None if there was nothing to compare.
        where: what the runner says of the place of a fault.
    """

    case: Case
    status: str
    seed: int = 0
    seconds: float = 0.0
    sampled: bool = False
    programs_run: int = 0
    programs_total: int = 0
    reason: str = ""
    message: str = ""
    judgement: Judgement | None = None
    where: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Session:
    """The two processes of one check, and the time that is left."""

    worker: WorkerJob
    judge: JudgeProcess
    season: Season
    full: bool
    deadline: float
    answers: Iterator[dict[str, Any]]

    @property
    def left_s(self) -> float:
        return self.deadline - time.monotonic()


def run_check(
    artifact: Path,
    problem: Problem,
    cases: tuple[Case, ...],
    season: Season,
    level: Level,
    full: bool,
    listener: Listener,
) -> tuple[CaseResult, ...]:
    """Run the cases one after the other; after a failure the rest is not run.

    Args:
        artifact: the artifact's folder.
        problem: the problem.
        cases: what to run, in this order.
        season: for its time budgets.
        level: of the runner's sandbox.
        full: run every program of benchmarks too.
        listener: is told of each case.
    """
    listener(Event("check", "start", total=len(cases)))
    results: list[CaseResult] = []
    with scratch_folder() as scratch:
        wall_s = season.budgets.cpu_replay_s + 60
        worker = start_replay_worker(artifact, scratch, level, wall_s=wall_s)
        try:
            with JudgeProcess(problem.folder) as judge:
                deadline = time.monotonic() + season.budgets.cpu_replay_s
                session = _Session(worker, judge, season, full, deadline, worker.events())
                for number_, case in enumerate(cases):
                    results.append(_run_case(session, case, number_, scratch))
                    listener(Event("check", "advance", f"{case.id} {results[-1].status}", len(results), len(cases)))
                    if results[-1].status == "failed":
                        break
        finally:
            worker.end()
    results += [CaseResult(c, "not_run", reason="after_failure") for c in cases[len(results) :]]
    listener(Event("check", "end", f"{sum(r.status == 'passed' for r in results)} of {len(cases)} cases pass"))
    return tuple(results)


def _run_case(session: _Session, case: Case, position: int, scratch: Path) -> CaseResult:
    if session.left_s <= 0:
        told = f"the check's budget of {session.season.budgets.cpu_replay_s:g} s is spent"
        return CaseResult(case, "not_run", reason="check_budget", message=told)
    sampled = case.role == "benchmark" and not session.full
    seed = secrets.randbits(63)
    inputs, outputs = scratch / f"in-{position}.safetensors", scratch / f"out-{position}.safetensors"
    session.judge.make_inputs(case.sizes, case.distribution, seed, inputs)
    started = time.monotonic()
    answer = _ask(session, case, position, sampled)
    result = CaseResult(
        case,
        "not_run",
        seed,
        seconds=round(time.monotonic() - started, 3),
        sampled=sampled,
        programs_run=int(number(answer, "programs_run")),
        programs_total=int(number(answer, "programs_total")),
    )
    try:
        return _conclude(session, result, answer, outputs)
    finally:
        for path in (inputs, outputs):
            with contextlib.suppress(OSError):  # whatever stands there now
                path.unlink()


def _ask(session: _Session, case: Case, position: int, sampled: bool) -> dict[str, Any]:
    limit_s = min(session.season.budgets.case_replay_s, session.left_s)
    request = {
        "id": position,
        "shape_id": case.shape_id,
        "inputs": f"in-{position}.safetensors",
        "outputs": f"out-{position}.safetensors",
        "programs": {"sample": SAMPLED_PROGRAMS, "seed": secrets.randbits(31)} if sampled else None,
        "workers": available_cores(),
        "seed": secrets.randbits(31),
        "time_limit_s": limit_s,
    }
    session.worker.send(request)
    for answer in session.answers:
        if answer.get("id") == position and answer.get("status") in STATUSES:
            return answer
    end = session.worker.wait()
    told = end.limit or (f"signal {end.signal}" if end.signal else f"exit code {end.code}")
    return {"status": "unsupported", "reason": f"the interpreter's process ended early ({told})"}


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


def _conclude(session: _Session, result: CaseResult, answer: dict[str, Any], outputs: Path) -> CaseResult:
    """Turn the runner's answer, and the judge's word on its outputs, into the case's result."""
    status, told = answer["status"], text(answer, "reason", 2000)
    result = replace(result, where=_plain_place(answer.get("where")))
    if status in ("out_of_bounds", "fault"):
        return replace(result, status="failed", reason=status, message=told + _describe_place(result.where))
    if status == "timeout":
        told = told or f"it did not finish within {session.season.budgets.case_replay_s:g} s"
        return replace(result, reason="too_slow_on_cpu", message=told)
    if status == "unsupported":
        return replace(result, reason="not_interpretable", message=told)
    judgement = session.judge.compare(
        result.case.sizes, result.case.distribution, result.seed, outputs, sampled=result.sampled
    )
    if judgement.passed:
        return replace(result, status="passed", judgement=judgement)
    reason = str(judgement.reason)
    return replace(result, status="failed", reason=reason, message=judgement.message, judgement=judgement)
