"""Replaying one artifact: case by case, a runner on one side, the judge on the other.

Order within a case: one call step by step (a fault then has a kernel's name), two calls on equal inputs in two slots
(both judged; their bits compared), then, for a benchmark, timed calls on inputs never seen before, every one judged.
A failure ends the submission; a fault of ours is tried once more. The calls themselves are `case_calls`'s.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from harness.artifact import load_artifact
from harness.replay.gpu.faults import GpuError
from harness.replay.node.case_calls import LATE, CaseCalls, UnstableClocksError
from harness.replay.node.case_layout import lay_out_case
from harness.replay.node.judging import GpuJudge
from harness.replay.node.node_report import CaseReport, CaseRequest, NodeRequest
from harness.replay.node.runner_process import RunnerProcess
from harness.replay.node.session import Session, Tell
from harness.replay.node.turn import Turn

if TYPE_CHECKING:  # it needs a driver's bindings, and the order of calls is tried without
    from harness.replay.node.shared_memory import SharedMemory

STARTS = 2  # a fresh runner is tried once more, for our faults, clocks that disagree, and a call that was late once
NO_MEMORY = "out_of_memory"
_OURS = frozenset({"internal", "machine"})


def replay(
    request: NodeRequest,
    folder: Path,
    judge: GpuJudge,
    memory: SharedMemory,
    runner: RunnerProcess,
    program: list[str],
    tell: Tell,
    turn: Turn,
) -> tuple[list[CaseReport], dict[str, Any]]:
    """Replay the cases of a request; after a failure the rest is not run.

    Returns:
        A report per case, and what the runner said of itself.
    """
    runner.wait_until_started()
    session = Session(load_artifact(folder), folder, judge, memory, program, tell, runner, turn)
    reports: list[CaseReport] = []
    try:
        for case in request.cases:
            tell({"event": "case", "id": case.id})
            reports.append(_run_case(session, case))
            tell({"event": "done", "id": case.id, "status": reports[-1].status})
            if reports[-1].status != "passed":
                break
    finally:
        session.runner.close()
    reports += [CaseReport(case.id, "not_run", "after_failure") for case in request.cases[len(reports) :]]
    sandbox = {"level": str(session.runner.level), "why_lower": "; ".join(runner.why_lower)}
    sampling = {"sampling": "graphs" if all(session.captured) else "operators"} if session.captured else {}
    return reports, {**session.runner.started, **sandbox, **sampling, "runners": session.starts}


def _run_case(session: Session, case: CaseRequest) -> CaseReport:
    started = time.monotonic()
    report = CaseReport(case.id, "not_run")
    for attempt in range(STARTS):
        last = attempt == STARTS - 1
        try:
            report = _try_case(session, case)
        except GpuError as found:
            fault = (_blame_once_late(session, found) if last else found).with_traceback(None)  # it holds what it met
            report = CaseReport(case.id, "fault", fault.reason, fault.message, fault.kernel)
            if last or not _is_tried_again(session, fault):
                break
        except UnstableClocksError as unstable:
            report = unstable.report
            if last:
                break
        else:
            break
        session.tell({"event": "retry", "id": case.id, "reason": report.reason})
        try:
            session.restart()
        except GpuError as fault:
            report = CaseReport(case.id, "fault", fault.reason, fault.message)
            break
    return replace(report, seconds=round(time.monotonic() - started, 3))


def _is_tried_again(session: Session, fault: GpuError) -> bool:
    if fault.reason == NO_MEMORY:
        return session.turn.shared  # what others had of it is not the submission's fault
    if fault.reason != LATE:
        return fault.reason in _OURS
    first, session.was_late = not session.was_late, True
    return first


def _blame_once_late(session: Session, fault: GpuError) -> GpuError:
    """Blame the machine for a call that was late for the first time in a replay, in a case's last try."""
    if fault.reason != LATE or session.was_late:
        return fault
    return GpuError("machine", f"{fault.message} Or a busy machine: the try before failed for another reason.")


def _try_case(session: Session, case: CaseRequest) -> CaseReport:
    plan = session.artifact.plans.get(case.shape_id)
    if plan is None:
        raise GpuError("internal", f"the artifact has no plan for {case.shape_id}")
    refused = session.judge.check_plan(plan, case.shape)
    if refused is not None:
        return CaseReport(case.id, "failed", str(refused.reason), refused.message, judgement=refused)
    calls = CaseCalls(session, case, lay_out_case(session.judge.problem, case.shape))
    try:
        calls.prepare()
        report = calls.check_pair()
        return calls.measure(report) if report.status == "passed" and case.timed else report
    except torch.OutOfMemoryError:  # the submission's own memory is the runner's business
        raise GpuError("machine", "the GPU's memory does not hold what the judge needs beside the submission") from None
