"""`harness replay`: an artifact that was built before, checked and timed on this machine's GPU.

Nothing is stored. The record that comes out is of the form that a submission has, so that it reads the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.artifact import Artifact, identify_program, load_artifact
from harness.case import Case, load_cases, select_cases
from harness.engine.build import check_built
from harness.engine.gpu_node import local_node
from harness.engine.gpu_record import add_replay
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.local_gpus import LocalGpu, find_gpu_of, find_local_gpu, find_local_gpus
from harness.engine.machine import describe_machine
from harness.engine.progress import Listener
from harness.engine.report import report_build, report_kernels, report_verdict
from harness.engine.request import BuildRequest
from harness.engine.workspace import Workspace
from harness.errors import ArtifactError, UsageError
from harness.sandbox import Level
from harness.spec import Problem, Season, find_problem
from harness.store import Record, Store, new_record_id, utc_now
from harness.submission import MAIN, Submission
from harness.target import Target, load_target
from harness.text import clean
from harness.toolchain import EVALUATOR_VERSION
from harness.verdict import Kind, Verdict

NO_GPU = (
    "no GPU here that the driver knows of (nvidia-smi lists none that CUDA_VISIBLE_DEVICES shows): run this on a GPU "
    "machine; if this is one, install NVIDIA's driver"
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
    if folder.is_dir():
        raise UsageError(f"{name} is no artifact's folder: it has no manifest.json")
    keys = [path for path in workspace.artifacts.glob(f"{_plain(name)}*") if (path / "manifest.json").is_file()]
    if len(keys) > 1:
        raise UsageError(f"{name!r} is the beginning of {len(keys)} artifacts: give more of it")
    if keys and len(name) >= MIN_KEY_CHARACTERS:
        return load_artifact(keys[0])
    wanted = f"give a folder, {MIN_KEY_CHARACTERS} characters or more of a key in {workspace.artifacts}, or a record"
    if store is None:
        raise UsageError(f"no artifact {name!r}: {wanted}")
    try:
        key = store.record(name).artifact_key
    except UsageError as error:
        raise UsageError(f"no artifact {name!r}: {wanted} ({error})") from None
    if key is None:
        raise UsageError(f"nothing was built for record {name}: it has no artifact")
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

    A fault of ours or of the machine's is tried once more.

    Args:
        artifact: from `find_artifact`.
        workspace: for problems, and for the node's file.
        season: for time limits.
        patterns: which cases, as `--case` has them; all that the artifact holds a shape of by default.
        listener: is told of each case.
        node: starts the program of another node; this machine's by default.

    Raises:
        UsageError: no GPU, another GPU than the artifact's, or another version of the problem.
        NodeLacksError: the node cannot replay.
        WorkerError: the node did not report, twice.
    """
    manifest = artifact.manifest
    problem, target = find_problem(workspace.root, manifest.problem), load_target(manifest.target)
    if problem.version != manifest.problem_version:
        raise UsageError(f"the artifact was built for another version of {problem.name}: build it again")
    cases = select_cases(_cases_of(problem, artifact), patterns)
    refused = check_rules(artifact, problem, season, target, cases)
    if refused is not None:
        return replace(describe_artifact(artifact, season, target), verdict=report_verdict(refused))
    if node is None:
        gpu = find_gpu_of(target)
        check_gpu(gpu or find_local_gpu(), target)
        node = local_node(workspace.state, gpu)
    judged = replay_on_gpu(node, artifact, problem, cases, target, season.budgets.gpu_call_s, listener)
    replay, verdict = judged.replay, judged.verdict
    passed = verdict.kind is Kind.PASSED
    record = replace(describe_artifact(artifact, season, target), verdict=report_verdict(verdict))
    return replace(
        add_replay(record, replay),
        sandbox_level=str(replay.level),
        unranked_reason=replay.why_unranked if passed else None,
        whole_suite=set(cases) >= set(load_cases(problem)),
    )


def check_rules(
    artifact: Artifact, problem: Problem, season: Season, target: Target, cases: tuple[Case, ...]
) -> Verdict | None:
    """Hold an artifact, whoever built it, against the rules of the division that it claims; None if it keeps them."""
    manifest = artifact.manifest
    unknown = Submission(manifest.team, Path(MAIN), ((MAIN, b""),), ())  # its text is not in the artifact
    level = Level.NONE  # nothing is run to find out
    request = BuildRequest(
        unknown, problem, season, target, manifest.division, cases, manifest.portable, level, manifest.toolchain
    )
    return check_built(request, artifact)


def explain_no_gpu() -> str:
    """Return why no GPU that is of use was found on this machine: which others there are, or what to do."""
    others = ", ".join(clean(gpu.name) for gpu in find_local_gpus())
    return f"this machine has {others}" if others else NO_GPU


def check_gpu(gpu: LocalGpu | None, target: Target) -> None:
    """Refuse a GPU that is missing, or is not the artifact's.

    Raises:
        UsageError: with what to do.
    """
    if gpu is None:
        raise UsageError(f"{NO_GPU}. `make submit` checks on the CPU")
    if not gpu.is_of(target):
        raise UsageError(
            f"the artifact was built for {target.title}, this machine has {gpu.name}: build it with --target for it"
        )


def _cases_of(problem: Problem, artifact: Artifact) -> tuple[Case, ...]:
    return tuple(case for case in load_cases(problem) if case.shape_id in artifact.plans)


def describe_artifact(artifact: Artifact, season: Season, target: Target) -> Record:
    """Return a record of an artifact before its verdict: what it is of, what its build cost, and this machine."""
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
        machine=describe_machine(),
        sandbox_level="none",
        artifact_key=manifest.key,
        program_sha256=identify_program(artifact),
        warnings=manifest.warnings,
        build=report_build(artifact, season.budgets.compile_cpu_s),
        kernels=report_kernels(artifact, target, frozenset(artifact.kernels)),
    )
