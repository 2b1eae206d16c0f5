"""The trace stage: the submission runs on fake tensors in the sandbox, and plans come out.

The only stage in which a submission's Python runs. What it hands over is parsed here as hostile data; what it claims
about its own cost is scaled to what the sandbox measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.artifact import BuildCost
from harness.case import Case
from harness.engine.budget import CompileBudget
from harness.engine.progress import Event, Listener
from harness.engine.trace_progress import MAX_WARNINGS, EarlyJudge, PlanCheck, Progress
from harness.engine.trace_results import TraceResults
from harness.engine.worker import WorkerJob, available_cores, start_worker
from harness.engine.workspace import scratch_folder
from harness.errors import ArtifactError, WorkerError
from harness.kernel import KernelSource
from harness.plan import LaunchStep, Plan
from harness.sandbox import Exit, Level, Mount, visible
from harness.spec import Problem
from harness.spec.season import AdvancedControls
from harness.submission import MAIN, Submission
from harness.target import Target
from harness.verdict import Verdict, judge_trace

MAX_KERNELS = 1024
SUBMISSION_MOUNT = "/submission"


@dataclass(frozen=True)
class TraceRequest:
    """What is to be traced, and how."""

    submission: Submission
    problem: Problem
    shapes: Mapping[str, Case]
    target: Target
    portable: bool
    controls: Sequence[AdvancedControls]
    level: Level


@dataclass(frozen=True)
class Traced:
    """Plans and kernels, validated in form; nothing in them has been compared with a policy yet."""

    plans: Mapping[str, Plan]
    kernels: Mapping[str, KernelSource]
    sources: Mapping[str, str]
    costs: Mapping[str, BuildCost]
    import_cost: BuildCost
    warnings: tuple[str, ...]


def run_trace(
    request: TraceRequest, budget: CompileBudget, listener: Listener, check: PlanCheck | None = None
) -> Traced | Verdict:
    """Trace every shape of the request; the first failing shape, in order, decides a failure's verdict.

    Args:
        request: what is traced.
        budget: what it may use, and is charged to.
        listener: is told how it goes.
        check: judges plans; the first that it finds at fault, in order, ends the trace. What passes has to be judged
            again: the submission's process can write something else until its end.
    """
    listener(Event("trace", "start", total=len(request.shapes)))
    with scratch_folder() as scratch, scratch_folder() as folder:
        worker = _start(request, scratch, folder, budget)
        progress = Progress(tuple(request.shapes))
        judge = EarlyJudge(request.problem, TraceResults(scratch), check) if check is not None else None
        verdict = _follow(worker, progress, listener, judge)
        end = worker.wait()
        budget.charge(end.cpu_s)
        if end.stderr:
            listener(Event("trace", "printed", end.stderr))
        verdict = verdict or progress.judge_end(end, budget)
        if verdict is not None:
            return verdict
        try:
            traced = _read_results(request, progress, end, TraceResults(scratch))
        except (ArtifactError, WorkerError) as error:  # no file, a link, too large: all of it the submission's doing
            return judge_trace("process_died", f"the trace left no valid result: {error}")
    listener(Event("trace", "end", f"{len(traced.kernels)} kernels", len(traced.plans), len(request.shapes)))
    return traced


def _start(request: TraceRequest, scratch: Path, folder: Path, budget: CompileBudget) -> WorkerJob:
    for name, content in request.submission.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for path in (folder, *folder.rglob("*")):  # whatever the umask: the sandbox may be another user's
        path.chmod(0o755 if path.is_dir() else 0o644)
    mount = Mount(folder, SUBMISSION_MOUNT)
    document = {
        "submission": f"{visible(request.level, mount)}/{MAIN}",
        "target": request.target.name,
        "jobs": available_cores(),
        "portable": request.portable,
        "advanced_controls": {item.path: item.id for item in request.controls} or None,
        "shapes": [_describe(request.problem, shape, case) for shape, case in request.shapes.items()],
    }
    cpu_s, wall_s = budget.left_cpu_s, budget.left_wall_s
    mounts = (mount, *(Mount(item.file, item.path) for item in request.controls))
    return start_worker("harness.trace", document, scratch, request.level, cpu_s=cpu_s, wall_s=wall_s, mounts=mounts)


def _describe(problem: Problem, shape: str, case: Case) -> dict[str, Any]:
    sizes = problem.input_sizes(case.sizes)
    inputs = [{"shape": list(s), "dtype": t.dtype} for s, t in zip(sizes, problem.inputs, strict=True)]
    return {"id": shape, "inputs": inputs}


def _follow(worker: WorkerJob, progress: Progress, listener: Listener, judge: EarlyJudge | None) -> Verdict | None:
    """Take in the worker's events, to its end or to a verdict that does not need the others; return that."""
    for event in worker.events():
        traced = progress.add(event)
        if traced:
            listener(Event("trace", "advance", traced, len(progress.costs), len(progress.shapes)))
        verdict = judge.judge(progress) if judge is not None else None
        if verdict is not None:
            worker.job.stop("judged")
            return verdict
    return None


def _read_results(request: TraceRequest, progress: Progress, end: Exit, results: TraceResults) -> Traced:
    plans = {shape: results.read_plan(shape, request.problem) for shape in request.shapes}
    launches = [launch for plan in plans.values() for launch in plan.launches]
    keys, digests = sorted({x.kernel for x in launches}), sorted({x.source for x in launches})
    if len(keys) > MAX_KERNELS:
        raise ArtifactError(f"{len(keys)} different kernels; {MAX_KERNELS} are allowed")
    kernels = {key: results.read_kernel(key) for key in keys}
    sources = {digest: results.read_source(digest) for digest in digests}
    claimed = sum(cost.cpu_s for cost in progress.costs.values())
    scale = min(1.0, end.cpu_s / claimed) if claimed else 1.0
    traced = ((shape, progress.costs[shape]) for shape in request.shapes)  # in their order, not as they ended
    costs = {shape: BuildCost(round(cost.cpu_s * scale, 3), cost.wall_s) for shape, cost in traced}
    rest = max(0.0, end.cpu_s - sum(cost.cpu_s for cost in costs.values()))
    wall_s = progress.imported.wall_s if progress.imported else 0.0
    # Shapes end in any order; what the author reads must not change from one run to the next.
    ordered = [text for shape in ("", *request.shapes) for text in progress.warnings.get(shape, [])]
    ordered += [f"{text}: in {shape}" for shape in request.shapes for text in progress.empty_launches.get(shape, [])]
    warnings = tuple(dict.fromkeys(ordered))[:MAX_WARNINGS]
    return Traced(plans, kernels, sources, costs, BuildCost(round(rest, 3), wall_s), warnings)


def first_launches(plans: Mapping[str, Plan], kernels: Sequence[str]) -> dict[str, tuple[str, LaunchStep]]:
    """Return for each kernel the first shape that launches it, and its first launch there."""
    found: dict[str, tuple[str, LaunchStep]] = {}
    for shape, plan in plans.items():
        for launch in plan.launches:
            if launch.kernel in kernels:
                found.setdefault(launch.kernel, (shape, launch))
    return found
