"""The two halves of a submission apart, for a queue in between: the build with its check, and the replay on a GPU.

`submit` runs them one after the other on one machine. Here each takes the record so far and returns it with what it
gave; an error of ours is raised, because whoever runs a queue tries again. Nothing is stored but artifacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.engine.baselines import load_baselines
from harness.engine.build import run_build
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.progress import Listener
from harness.engine.recording import Evaluation, close_record, close_replayed, open_record
from harness.engine.request import BuildRequest
from harness.engine.submit import evaluate
from harness.engine.workspace import Workspace
from harness.store import Record
from harness.verdict import Kind, Verdict


def evaluate_build(request: BuildRequest, record: Record, workspace: Workspace, listener: Listener) -> Record:
    """Build a submission and check it on the CPU.

    Args:
        request: what is submitted.
        record: of it, from `open_record`.
        workspace: where artifacts are kept.
        listener: is told how it goes.

    Raises:
        HarnessError: something of ours failed; nobody's verdict.
    """
    evaluation = Evaluation()
    evaluation.verdict = evaluate(request, workspace, listener, evaluation, full=False, node=None)
    return close_record(record, request, evaluation)


def evaluate_replay(
    request: BuildRequest, checked: Record, workspace: Workspace, node: Sequence[str], listener: Listener
) -> Record:
    """Replay on a GPU what `evaluate_build` has built; what other rules or tools have built is built and checked anew.

    Args:
        request: the one that was built.
        checked: the record so far.
        workspace: where the artifact is; it is built again if it is there no more.
        node: starts the node's program.
        listener: is told of each case.

    Raises:
        HarnessError: the node could not be used, or failed twice; nobody's verdict.
    """
    opened = replace(open_record(request), id=checked.id, created=checked.created, season=checked.season)
    if opened.setting != checked.setting:  # the times will be those of today's problem, evaluator and tools
        checked = evaluate_build(request, opened, workspace, listener)
        if checked.kind not in (Kind.CHECKED, Kind.BUILT):
            return checked
    evaluation = Evaluation()
    built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):  # what it is held against has changed since: the rules, the budget
        evaluation.verdict = built
        return close_record(checked, request, evaluation)
    with evaluation.stage("replay"):
        evaluation.baselines = load_baselines(workspace.root, request.problem, request.target)
        call_s = request.season.budgets.gpu_call_s
        judged = replay_on_gpu(node, built.artifact, request.problem, request.cases, request.target, call_s, listener)
    evaluation.verdict, evaluation.replay = judged.verdict, judged.replay
    return close_replayed(checked, request, evaluation)
