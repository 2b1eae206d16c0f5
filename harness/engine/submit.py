"""One submission from its source to its record: the main job, top to bottom.

Build, check on the CPU, and, where a GPU of the target is at hand, replay there: each stage needs the one before.

The record is stored before anything runs and finished when the verdict is known, so that a kill at any moment loses
nothing. An error of ours becomes HARNESS_ERROR and is never counted against a team.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.artifact import Artifact
from harness.case import load_cases
from harness.engine.baselines import load_baselines
from harness.engine.build import run_build
from harness.engine.checking import CaseResult, judge_tests, run_check
from harness.engine.gpu import run_gpu_replay
from harness.engine.gpu_node import NodeLacksError
from harness.engine.gpu_stage import judge_cpu_replay, replay_on_gpu
from harness.engine.progress import Event, Listener
from harness.engine.recording import Evaluation, close_record, open_record
from harness.engine.report import explain_failure
from harness.engine.request import BuildRequest
from harness.engine.workspace import Workspace
from harness.store import NO_ID, Record, Store
from harness.verdict import Kind, Verdict, judge_ours, judge_replay

DRY_RUN = "a dry run is not recorded"


@dataclass(frozen=True)
class Submitted:
    """What came of a submission: its record, and the artifact where one was built."""

    record: Record
    artifact: Artifact | None


def run_submit(
    request: BuildRequest,
    workspace: Workspace,
    store: Store,
    listener: Listener,
    *,
    full: bool,
    node: Sequence[str] | None = None,
) -> Submitted:
    """Build a submission, check it, on a GPU too where there is one, judge it and record it.

    Args:
        request: what is submitted, for which target.
        workspace: where artifacts are kept.
        store: where the record is kept.
        listener: is told how it goes.
        full: check benchmarks by all their programs instead of a sample.
        node: starts the program that replays on a GPU of the target (`gpu_node.find_node`); None where there is none.

    Raises:
        StoreError: the record could not be kept.
    """
    record = open_record(request)
    store.submit(record)
    evaluation = Evaluation()
    try:
        evaluation.verdict = evaluate(request, workspace, listener, evaluation, full=full, node=node)
    except KeyboardInterrupt:
        store.interrupt(record)
        raise
    except Exception as error:  # ours or the machine's, bugs too: it must not be lost, nor blamed on the team
        evaluation.verdict, evaluation.error = judge_ours(error), traceback.format_exc()
    finished = close_record(record, request, evaluation)
    store.finish(finished)
    return Submitted(finished, evaluation.built.artifact if evaluation.built else None)


def run_dry(
    request: BuildRequest,
    workspace: Workspace,
    listener: Listener,
    *,
    full: bool,
    node: Sequence[str],
    on_cpu: bool = False,
) -> Submitted:
    """Do all that `run_submit` does with a GPU at hand, and record nothing: the record has no id.

    Args:
        request: what is judged, for which target.
        workspace: where artifacts are kept.
        listener: is told how it goes.
        full: check benchmarks by all their programs instead of a sample.
        node: starts the node's program, here or elsewhere.
        on_cpu: it is the program that checks on the node's CPUs, which stands in for the check on this machine's.

    Raises:
        HarnessError: the node could not be used, or something of ours failed; nobody's verdict.
    """
    evaluation = Evaluation()
    if on_cpu:
        evaluation.verdict = _check_elsewhere(request, workspace, listener, evaluation, node)
    else:
        evaluation.verdict = evaluate(request, workspace, listener, evaluation, full=full, node=node)
    if evaluation.no_replay:
        raise NodeLacksError(evaluation.no_replay)
    record = close_record(open_record(request), request, evaluation)
    why = "; ".join(filter(None, (record.unranked_reason, DRY_RUN)))
    record = replace(record, id=NO_ID, ranked=False, unranked_reason=why if record.accepted else None)
    return Submitted(record, evaluation.built.artifact if evaluation.built else None)


def evaluate(
    request: BuildRequest,
    workspace: Workspace,
    listener: Listener,
    evaluation: Evaluation,
    *,
    full: bool,
    node: Sequence[str] | None,
) -> Verdict:
    """Run the stages, one after the other, until one decides; return the verdict.

    Args:
        request: what is evaluated.
        workspace: where artifacts are kept.
        listener: is told how it goes.
        evaluation: is given what each stage gave.
        full: check benchmarks by all their programs.
        node: starts the program that replays on a GPU, None where there is none.
    """
    with evaluation.stage("build"):
        built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        return built
    evaluation.built = built
    with evaluation.stage("check"):
        folder = built.artifact.stored_in
        evaluation.results = run_check(
            folder, request.problem, request.cases, request.season, request.level, full, listener
        )
    verdict = judge_results(evaluation.results, _count_tests(request))
    if node is None or verdict.kind not in (Kind.CHECKED, Kind.BUILT):
        return verdict
    with evaluation.stage("replay"):
        evaluation.baselines = load_baselines(workspace.root, request.problem, request.target)
        return _replay(request, built.artifact, node, listener, evaluation) or verdict


def _check_elsewhere(
    request: BuildRequest, workspace: Workspace, listener: Listener, evaluation: Evaluation, node: Sequence[str]
) -> Verdict:
    with evaluation.stage("build"):
        built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        return built
    evaluation.built = built

    def hear_check(event: Event) -> None:
        listener(replace(event, stage="check"))  # a replay, but on CPUs

    with evaluation.stage("check"):
        listener(Event("check", "advance", "reaching the node", 0, len(request.cases)))
        call_s = request.season.budgets.case_replay_s
        replay = run_gpu_replay(
            node, built.artifact.stored_in, request.problem, request.cases, request.target, call_s, hear_check
        )
    evaluation.replay = replay
    return judge_cpu_replay(replay, built.artifact, _count_tests(request))


def _replay(
    request: BuildRequest, artifact: Artifact, node: Sequence[str], listener: Listener, evaluation: Evaluation
) -> Verdict | None:
    """Return the verdict of a replay on the GPU, None where the machine's GPU turned out to be of no use."""
    call_s = request.season.budgets.gpu_call_s
    try:
        judged = replay_on_gpu(node, artifact, request.problem, request.cases, request.target, call_s, listener)
    except NodeLacksError as error:
        evaluation.no_replay = str(error)
        return None
    evaluation.replay = judged.replay
    return judged.verdict


def judge_results(results: tuple[CaseResult, ...], wanted: int) -> Verdict:
    """Return the verdict on what the check gave: the first failure decides, else how many tests passed.

    Args:
        results: of the cases that were chosen.
        wanted: how many test cases the suite has.
    """
    for result in results:
        if result.status == "failed":
            return judge_replay(
                result.reason, explain_failure(result.message, result.judgement), result.case.id, _details(result)
            )
    tests = [result for result in results if result.case.role == "test"]
    return judge_tests([(test.case.id, test.status, test.reason, test.message) for test in tests], wanted)


def _details(result: CaseResult) -> dict[str, object]:
    details: dict[str, object] = {"seed": result.seed}
    if result.where:
        details["where"] = result.where
    if result.judgement and result.judgement.likely_cause:
        details["likely_cause"] = result.judgement.likely_cause
    return details


def _count_tests(request: BuildRequest) -> int:
    return sum(case.role == "test" for case in load_cases(request.problem, request.suite))
