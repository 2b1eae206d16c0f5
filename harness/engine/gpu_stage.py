"""The last stage of a submission where a GPU is at hand: its artifact replayed there, and what came of it.

A fault of ours or of the machine's is tried once more, in a fresh node, unless the node has done so itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from harness.artifact import Artifact
from harness.case import Case
from harness.engine.checking import judge_tests
from harness.engine.gpu import GpuReplay, judge_gpu_replay, run_gpu_replay
from harness.engine.gpu_node import NodeLacksError, UnreachableError
from harness.engine.progress import Event, Listener
from harness.errors import WorkerError
from harness.spec import Problem
from harness.target import Target
from harness.verdict import Kind, Verdict


@dataclass(frozen=True)
class Judged:
    """A replay and the verdict on it."""

    replay: GpuReplay
    verdict: Verdict


def judge_cpu_replay(replay: GpuReplay, artifact: Artifact, wanted: int) -> Verdict:
    """Return the verdict on a replay on a node's CPUs: the first failure decides, else how many tests passed.

    Args:
        replay: what the node said; it has no times.
        artifact: what was replayed.
        wanted: how many test cases the suite has.
    """
    if any(case.status in ("failed", "fault") for case in replay.report.cases):
        return judge_gpu_replay(replay, artifact)
    pairs = zip(replay.cases, replay.report.cases, strict=True)
    return judge_tests([(r.id, r.status, r.reason, r.message) for case, r in pairs if case.role == "test"], wanted)


def replay_on_gpu(
    node: Sequence[str],
    artifact: Artifact,
    problem: Problem,
    cases: tuple[Case, ...],
    target: Target,
    call_s: float,
    listener: Listener,
) -> Judged:
    """Replay an artifact and judge it; once more where the fault was ours or the machine's.

    Args:
        node: starts the node's program.
        artifact: what was built; in a folder.
        problem: what it was built for.
        cases: what to replay.
        target: the GPU that it was built for.
        call_s: the time limit of one call.
        listener: is told how it goes.

    Raises:
        NodeLacksError: the node can replay nothing; it says nothing of the submission.
        UnreachableError: there is no way to the node, or no longer.
        WorkerError: the node failed twice.
    """
    for last in (False, True):
        try:
            replay = run_gpu_replay(node, artifact.stored_in, problem, cases, target, call_s, listener)
        except WorkerError as error:
            if last or isinstance(error, (NodeLacksError, UnreachableError)):
                raise
            listener(Event("replay", "advance", f"once more: {str(error).splitlines()[0][:100]}"))
            continue
        verdict = judge_gpu_replay(replay, artifact)
        retried = last or replay.report.machine.get("runners", 1) != 1
        if verdict.kind is not Kind.HARNESS_ERROR or retried:
            return Judged(replay, verdict)
        listener(Event("replay", "advance", f"once more: {verdict.message.splitlines()[0][:100]}"))
    raise AssertionError(f"no attempt concluded: {shlex.join(node)}")
