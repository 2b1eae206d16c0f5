"""The check on a CPU: the artifact's kernels run in Triton's interpreter, and the judge compares.

Two processes and this one between them. The runner is sandboxed and holds plans, sources and the current inputs; the
judge holds seeds, references and expected values. Tests run in full, benchmarks by sampled programs unless asked
otherwise. How one case is checked is `replay.cpu_check`'s; which are not worth a try, `replay.patience`'s.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.case import Case
from harness.engine.progress import Event, Listener
from harness.engine.workspace import disk_error, scratch_folder
from harness.replay.cpu_check import Asked
from harness.replay.cpu_runner import CpuRunner
from harness.replay.judge_client import JudgeProcess
from harness.replay.judgement import Judgement
from harness.replay.patience import LEFT_OUT, Patience, tell_unchecked
from harness.sandbox import Level
from harness.spec import Problem, Season
from harness.verdict import Verdict, judge_checked

RUNNER = (sys.executable, "-I", "-m", "harness.replay.cpu")
_START_S = 60


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
class Session:
    """The two processes of one check, the time that is left, and what was not finished."""

    runner: CpuRunner
    judge: JudgeProcess
    season: Season
    full: bool
    deadline: float
    patience: Patience = field(default_factory=Patience)

    @property
    def left_s(self) -> float:
        """Seconds until the check's budget is spent."""
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
    """Run the cases one after the other; after a failure the rest is not run, nor what would hardly be finished.

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
    budget_s = season.budgets.cpu_replay_s
    with (
        scratch_folder() as scratch,
        CpuRunner(RUNNER, artifact, scratch, level, wall_s=budget_s + _START_S) as runner,
        JudgeProcess(problem.folder) as judge,
    ):
        session = Session(runner, judge, season, full, time.monotonic() + budget_s)
        for position, case in enumerate(cases):
            results.append(run_case(session, case, position))
            listener(Event("check", "advance", f"{case.id} {_outcome(results[-1])}", len(results), len(cases)))
            if results[-1].status == "failed":
                break
    results += [CaseResult(c, "not_run", reason="after_failure") for c in cases[len(results) :]]
    listener(Event("check", "end", f"{sum(r.status == 'passed' for r in results)} of {len(cases)} cases pass"))
    return tuple(results)


def run_case(session: Session, case: Case, position: int) -> CaseResult:
    """Run one case of a session.

    Raises:
        HarnessError: the machine's disk is full, by no doing of the runner's.
    """
    budgets = session.season.budgets
    if session.left_s <= 0:
        told = f"the check's budget of {budgets.cpu_replay_s:g} s is spent"
        return CaseResult(case, "not_run", reason="check_budget", message=told)
    sampled = case.role == "benchmark" and not session.full
    limit_s = min(budgets.case_replay_s, session.left_s)
    asked = Asked(case.shape_id, case.sizes, case.distribution, sampled, limit_s)
    try:
        checked = session.patience.check(session.runner, session.judge, asked, position)
    except OSError as error:
        raise disk_error(error, session.runner.scratch) from None
    return CaseResult(case, sampled=sampled, **vars(checked))


def judge_tests(tests: Sequence[tuple[str, str, str, str]], wanted: int) -> Verdict:
    """Return the verdict on a check in which nothing failed.

    Args:
        tests: case id, status, reason and message of each test case that was chosen.
        wanted: how many test cases the suite has.
    """
    others = [(case_id, reason, message) for case_id, status, reason, message in tests if status != "passed"]
    return judge_checked(len(tests) - len(others), wanted, tell_unchecked(others))


def _outcome(result: CaseResult) -> str:
    """What came of a case, in the words of progress."""
    if result.status != "not_run":
        return result.status
    return "left out" if result.reason == LEFT_OUT else "not finished"
