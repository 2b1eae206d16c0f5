"""`harness replay`: an artifact that was built before, checked and timed on this machine's GPU.

Nothing is stored. The record that comes out is of the form that a submission has, so that it reads the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.artifact import Artifact, load_artifact
from harness.case import Case, load_cases, select_cases
from harness.engine.gpu import judge_gpu_replay, report_gpu_cases, run_gpu_replay
from harness.engine.gpu_node import LocalGpu, find_local_gpu, local_node
from harness.engine.machine import describe_machine
from harness.engine.progress import Listener
from harness.engine.report import report_build, report_kernels, report_verdict
from harness.engine.workspace import Workspace
from harness.errors import ArtifactError, UsageError
from harness.spec import Problem, Season, find_problem
from harness.store import Record, Store, new_record_id, utc_now
from harness.target import Target, load_target
from harness.toolchain import EVALUATOR_VERSION
from harness.verdict import Kind

NO_GPU = (
    "no GPU here that the driver knows of (nvidia-smi lists none): run this on a GPU machine, or see `make doctor`. "
    "`make submit` checks on the CPU"
)
MIN_KEY_CHARACTERS = 6


def find_artifact(workspace: Workspace, name: str, store: Store | None = None) -> Artifact:
    """Return the artifact in a folder, of a key (or the beginning of one), or of a record.

    Raises:
        UsageError: there is none, or several keys begin so.
    """
    folder = Path(name)
    if (folder / "manifest.json").is_file():
        return load_artifact(folder)
    keys = [path for path in workspace.artifacts.glob(f"{_plain(name)}*") if (path / "manifest.json").is_file()]
    if len(keys) > 1:
        raise UsageError(f"{name!r} is the beginning of {len(keys)} artifacts: give more of it")
    if keys and len(name) >= MIN_KEY_CHARACTERS:
        return load_artifact(keys[0])
    if store is None:
        raise UsageError(f"no artifact {name!r}: give a folder, a key of {workspace.artifacts}, or a record")
    key = store.record(name).artifact_key
    if key is None:
        raise UsageError(f"nothing was built for record {name}, so there is nothing to replay")
    try:
        return load_artifact(workspace.artifacts / key)
    except ArtifactError as error:
        raise UsageError(f"its artifact is not in {workspace.artifacts} any more ({error}): submit again") from None


def _plain(name: str) -> str:
    """Return a name without what a pattern or a path would mean by it."""
    return name if name.isalnum() else "-"


def run_replay(
    artifact: Artifact,
    workspace: Workspace,
    season: Season,
    patterns: tuple[str, ...],
    listener: Listener,
    node: Sequence[str] | None = None,
) -> Record:
    """Replay an artifact on this machine's GPU, or on a node, and return what a record of it would say.

    Args:
        artifact: from `find_artifact`.
        workspace: for problems, and for the node's file.
        season: for time limits.
        patterns: which cases, as `--case` has them; all that the artifact holds a shape of by default.
        listener: is told of each case.
        node: starts the program of another node; this machine's by default.

    Raises:
        UsageError: no GPU, another GPU than the artifact's, or another version of the problem.
        WorkerError: the node did not report.
    """
    manifest = artifact.manifest
    problem, target = find_problem(workspace.root, manifest.problem), load_target(manifest.target)
    if problem.version != manifest.problem_version:
        raise UsageError(f"the artifact was built for another version of {problem.name}: build it again")
    if node is None:
        check_gpu(find_local_gpu(), target)
        node = local_node(workspace.state)
    assert artifact.folder is not None
    cases = select_cases(_cases_of(problem, artifact), patterns)
    limit_s = season.budgets.gpu_call_s
    replay = run_gpu_replay(node, artifact.folder.resolve(), problem, cases, target, limit_s, listener)
    verdict = judge_gpu_replay(replay, artifact)
    passed = verdict.kind is Kind.PASSED
    return replace(
        _describe(artifact, season, target),
        machine={**describe_machine(), **{name: _plain_fact(v) for name, v in replay.report.machine.items()}},
        sandbox_level=str(replay.report.machine.get("sandbox", "none")),
        verdict=report_verdict(verdict),
        cases=report_gpu_cases(replay),
        score_us=replay.score_us if passed else None,
        unranked_reason=(replay.why_unranked or "a replay by itself is not recorded") if passed else None,
    )


def check_gpu(gpu: LocalGpu | None, target: Target) -> None:
    """Refuse a GPU that is missing, or is not the artifact's.

    Raises:
        UsageError: with what to do.
    """
    if gpu is None:
        raise UsageError(NO_GPU)
    # Machine code runs on its own architecture only; the name tells an H200 from an H100.
    if gpu.capability != target.capability or target.name.lower() not in gpu.name.lower():
        raise UsageError(
            f"the artifact was built for {target.title}, this machine has {gpu.name}: build it with --target for it"
        )


def _cases_of(problem: Problem, artifact: Artifact) -> tuple[Case, ...]:
    return tuple(case for case in load_cases(problem) if case.shape_id in artifact.plans)


def _plain_fact(value: str | int | float) -> str | int:
    return value if isinstance(value, (str, int)) else str(value)


def _describe(artifact: Artifact, season: Season, target: Target) -> Record:
    manifest, now = artifact.manifest, utc_now()
    return Record(
        id=new_record_id(),
        state="finished",
        created=now,
        finished=now,
        team=manifest.team,
        problem=manifest.problem,
        problem_version=manifest.problem_version,
        division=manifest.division,
        season=season.name,
        target=manifest.target,
        source_sha256=manifest.submission_sha256,
        normalised_source_sha256="",
        evaluator_version=EVALUATOR_VERSION,
        toolchain=dict(manifest.toolchain),
        machine={},
        sandbox_level="none",
        artifact_key=manifest.key,
        warnings=manifest.warnings,
        build=report_build(artifact, season.budgets.compile_cpu_s),
        kernels=report_kernels(artifact, target, frozenset(artifact.kernels)),
    )
