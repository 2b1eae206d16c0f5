"""The build: trace, policy, assembly, artifact. Nothing is compiled twice for the same inputs.

An artifact's address covers everything that its content depends on: the submission's folder, the problem's version, the
target, the toolchain, the division's rules, the sandbox's level and the shapes. What was built before is loaded
instead, with its original cost.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.artifact import Artifact, Manifest, load_artifact, save_artifact
from harness.engine.assembly import Assembled, run_assembly
from harness.engine.budget import CompileBudget
from harness.engine.kernel_cache import KernelCache
from harness.engine.progress import Event, Listener
from harness.engine.request import BuildRequest
from harness.engine.rules import check_kernel, check_kernels, check_plans, quote_lines
from harness.engine.tracing import Traced, TraceRequest, run_trace
from harness.engine.workspace import Workspace, disk_error
from harness.errors import ArtifactError
from harness.frame import Frame
from harness.submission import find_source_fault
from harness.toolchain import fingerprint
from harness.verdict import Verdict, judge_budget, judge_source, judge_trace


@dataclass(frozen=True)
class Built:
    """An artifact that its division allows; `reused` if it was built before, `cached` names kernels that were."""

    artifact: Artifact
    reused: bool
    cached: frozenset[str]


def run_build(request: BuildRequest, workspace: Workspace, listener: Listener) -> Built | Verdict:
    """Build a submission, or say why it cannot be built."""
    fault = find_source_fault(request.submission)
    if fault is not None:
        frames = (Frame(fault.line, "", fault.text),) if fault.line else ()
        return judge_source(fault.reason, fault.message, frames)
    artifact = _load_built(workspace.artifacts / request.key, request.key)
    if artifact is None:
        return _build(request, workspace, listener)
    verdict = check_built(request, artifact)
    if verdict is not None:
        return verdict
    budget_s, spent_s = request.season.budgets.compile_cpu_s, artifact.manifest.cpu_s
    if spent_s > budget_s:  # built under a larger one
        done = {shape: cost.cpu_s for shape, cost in artifact.manifest.shapes.items()}
        return judge_budget("assemble", done, [], list(done), budget_s, spent_s)
    listener(Event("assemble", "end", f"built before ({len(artifact.kernels)} kernels)"))
    return Built(artifact, reused=True, cached=frozenset(artifact.kernels))


def _load_built(folder: Path, key: str) -> Artifact | None:
    """Return the artifact that was built before; one that is damaged on disk is removed, to be built again."""
    if not folder.exists():
        return None
    try:
        artifact = load_artifact(folder)
        if artifact.manifest.key == key:
            return artifact
    except ArtifactError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return None


def check_built(request: BuildRequest, artifact: Artifact) -> Verdict | None:
    """Hold what an artifact has for the request's shapes against the rules of today.

    They may be others than when it was built, and an artifact from elsewhere may never have met any.
    """
    plans = {shape: plan for shape, plan in artifact.plans.items() if shape in request.shapes}
    used = {launch.kernel for plan in plans.values() for launch in plan.launches}
    kernels = {key: kernel for key, kernel in artifact.kernels.items() if key in used}
    sources = {key: kernel.source for key, kernel in kernels.items()}
    return check_plans(request, plans, sources) or check_kernels(request, plans, kernels)


def _build(request: BuildRequest, workspace: Workspace, listener: Listener) -> Built | Verdict:
    budgets = request.season.budgets
    budget = CompileBudget(budgets.compile_cpu_s, budgets.compile_wall_s)
    controls = request.season.advanced_controls
    trace = TraceRequest(
        request.submission, request.problem, request.shapes, request.target, request.portable, controls, request.level
    )
    traced = run_trace(trace, budget, listener, partial(check_plans, request))
    if isinstance(traced, Verdict):
        return traced
    verdict = check_plans(request, traced.plans, traced.kernels)  # what counts is what was there at the end
    if verdict is not None:
        return verdict
    cache = KernelCache(workspace.kernels / _cache_name(request))
    check = partial(check_kernel, request, traced.plans)
    assembled = run_assembly(traced, request.target, request.season, request.level, cache, budget, listener, check)
    if isinstance(assembled, Verdict):
        return quote_lines(assembled, request.submission)
    verdict = check_kernels(request, traced.plans, assembled.kernels)
    if verdict is not None:
        return verdict
    try:
        artifact = _keep(_make_artifact(request, traced, assembled), workspace)
    except ArtifactError as error:
        return judge_trace("plan_too_large", f"what was built is more than an artifact may hold: {error}")
    return Built(artifact, reused=False, cached=assembled.cached)


def _cache_name(request: BuildRequest) -> str:
    """Name what kernels depend on beside their IR and options; an option names the season's controls by id only.

    Each team has kernels of its own: what one team's IR may do to the compiler's process stays with that team.
    """
    controls = hashlib.sha256(repr(sorted(request.controls.items())).encode()).hexdigest()[:8]
    return f"{request.submission.team}-{fingerprint(request.toolchain)}-{request.target.architecture}-{controls}"


def _make_artifact(request: BuildRequest, traced: Traced, assembled: Assembled) -> Artifact:
    manifest = Manifest(
        key=request.key,
        team=request.submission.team,
        problem=request.problem.name,
        problem_version=request.problem.version,
        submission_sha256=request.submission.sha256,
        target=request.target.name,
        toolchain=dict(request.toolchain),
        fingerprint=fingerprint(request.toolchain),
        division=request.division,
        portable=request.portable,
        shapes=dict(traced.costs),
        kernels=dict(assembled.costs),
        sources=tuple(traced.sources),
        import_cost=traced.import_cost,
        warnings=traced.warnings,
    )
    return Artifact(manifest, traced.plans, assembled.kernels, traced.sources)


def _keep(artifact: Artifact, workspace: Workspace) -> Artifact:
    """Store an artifact; return it with the folder that it is in, as a stored one is loaded."""
    folder = workspace.artifacts / artifact.manifest.key
    try:
        workspace.artifacts.mkdir(parents=True, exist_ok=True)
        save_artifact(artifact, folder)
    except OSError as error:
        raise disk_error(error, workspace.artifacts) from None
    return replace(artifact, folder=folder)
