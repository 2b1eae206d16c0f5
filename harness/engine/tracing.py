"""The trace stage: the submission runs on fake tensors in the sandbox, and plans come out.

The only stage in which a submission's Python runs. What it hands over is parsed here as hostile data; what it claims
about its own cost is scaled to what the sandbox measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.artifact import MAX_SOURCE_BYTES, BuildCost
from harness.case import Case
from harness.engine.budget import CompileBudget
from harness.engine.progress import Event, Listener
from harness.engine.worker import WorkerJob, available_cores, start_worker
from harness.engine.workspace import scratch_folder
from harness.errors import ArtifactError, WorkerError
from harness.frame import Frame
from harness.kernel import KernelSource, parse_kernel_source
from harness.plan import Plan, parse_plan
from harness.sandbox import Exit, Level, Mount, read_result, visible
from harness.spec import Problem
from harness.spec.season import AdvancedControls
from harness.strict_json import number, parse_strict, text
from harness.submission import MAIN, Submission
from harness.target import Target
from harness.text import clean
from harness.trace.failures import REASONS
from harness.verdict import Verdict, judge_budget, judge_trace

MAX_PLAN_BYTES = 2 << 20  # in memory a document takes up to twenty times that
MAX_KERNEL_BYTES = 8 << 20
MAX_RESULT_BYTES = 64 << 20  # of all files together
MAX_KERNELS = 1024
MAX_WARNINGS = 50
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


@dataclass
class _Progress:
    """What the worker's events add up to."""

    costs: dict[str, BuildCost] = field(default_factory=dict)
    begun: bool = False
    imported: BuildCost | None = None
    running: list[str] = field(default_factory=list)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)  # by shape id, "" for the import
    warnings: dict[str, list[str]] = field(default_factory=dict)  # likewise


def run_trace(request: TraceRequest, budget: CompileBudget, listener: Listener) -> Traced | Verdict:
    """Trace every shape of the request; the first failing shape, in order, decides a failure's verdict."""
    listener(Event("trace", "start", total=len(request.shapes)))
    with scratch_folder() as scratch, scratch_folder() as folder:
        worker = _start(request, scratch, folder, budget)
        progress = _follow(worker, request, listener)
        end = worker.wait()
        budget.charge(end.cpu_s)
        if end.stderr:
            listener(Event("trace", "printed", end.stderr))
        failure = _find_failure(request, progress, end, budget)
        if failure is not None:
            return failure
        try:
            traced = _read_results(request, progress, end, _Results(scratch))
        except (ArtifactError, WorkerError) as error:  # no file, a link, too large: all of it the submission's doing
            return judge_trace("process_died", f"the trace left no valid result: {error}")
    listener(Event("trace", "end", f"{len(traced.kernels)} kernels", len(traced.plans), len(request.shapes)))
    return traced


def _start(request: TraceRequest, scratch: Path, folder: Path, budget: CompileBudget) -> WorkerJob:
    folder.chmod(0o755)
    for name, content in request.submission.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
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


def _follow(worker: WorkerJob, request: TraceRequest, listener: Listener) -> _Progress:
    progress = _Progress()
    for event in worker.events():
        kind, shape = event.get("event"), text(event, "shape", 200)
        cost = BuildCost(number(event, "cpu_s"), number(event, "wall_s"))
        if kind == "begun":
            progress.begun = True
        elif kind == "imported":
            progress.imported = cost
            progress.warnings[""] = _texts(event.get("warnings"))
        elif kind == "failed" and (not shape or shape in request.shapes):
            progress.failures.setdefault(shape, event)
            progress.running = [s for s in progress.running if s != shape]
        elif kind == "start" and shape in request.shapes and shape not in progress.running:
            progress.running.append(shape)
        elif kind == "traced" and shape in request.shapes:
            progress.running = [s for s in progress.running if s != shape]
            progress.costs[shape] = cost
            progress.warnings[shape] = _texts(event.get("warnings"))
            listener(Event("trace", "advance", shape, len(progress.costs), len(request.shapes)))
    return progress


def _texts(items: object) -> list[str]:
    items = items[:MAX_WARNINGS] if isinstance(items, list) else []
    return [clean(item[:500], lines=True) for item in items if isinstance(item, str)]


def _find_failure(request: TraceRequest, progress: _Progress, end: Exit, budget: CompileBudget) -> Verdict | None:
    if end.limit in ("cpu", "wall"):
        done = {shape: cost.cpu_s for shape, cost in progress.costs.items()}
        running = progress.running if progress.imported else ["the import of submission.py"]
        wall_s = budget.wall_s if end.limit == "wall" else None
        shapes = list(request.shapes)
        return judge_budget("trace", done, running, shapes, budget.cpu_s, budget.spent_cpu_s, wall_s)
    if end.limit is not None:
        return judge_trace(f"{end.limit}_limit", _LIMITS.get(end.limit, f"the trace was stopped: {end.limit}"))
    for shape in ("", *request.shapes):
        if shape in progress.failures:
            others = sorted(set(progress.failures) - {shape, ""})
            details = {"failed_shapes": [shape, *others]} if shape else {}
            event = progress.failures[shape]
            reason = _believed(text(event, "reason", 64), begun=progress.begun)
            return judge_trace(reason, text(event, "message"), shape, _frames(event), details)
    missing = [shape for shape in request.shapes if shape not in progress.costs]
    if missing:
        told = f"signal {end.signal}" if end.signal else f"exit code {end.code}"
        where = missing[0] if progress.imported else ""
        message = f"the process ended ({told}) before it had traced {missing[0]}: submissions must not end it"
        return judge_trace("process_died", message, where, details={"stderr": end.stderr[-2000:]})
    return None


def _believed(reason: str, *, begun: bool) -> str:
    """Return what to make of a reason: once the submission runs, it can say that it was our fault, or anything."""
    if reason == "harness_error" and begun:
        return "tracer_failed"
    return reason if reason in REASONS else "process_died"


_LIMITS = {
    "memory": "the submission used more host memory than the trace has: build large tensors on the device",
    "output": "the submission printed more than the trace keeps: print less",
    "disk": "the submission wrote more to disk than the trace has: write less",
}


def _frames(event: dict[str, Any]) -> tuple[Frame, ...]:
    items = event.get("traceback")
    frames = [item for item in items[:20] if isinstance(item, dict)] if isinstance(items, list) else []
    return tuple(Frame(int(number(f, "line")), text(f, "function", 100), text(f, "text", 300)) for f in frames)


@dataclass
class _Results:
    """The files that the worker left, whose sizes it chose: what is read of them all is bounded."""

    scratch: Path
    left_bytes: int = MAX_RESULT_BYTES

    def read(self, name: str, most_bytes: int) -> bytes:
        content = read_result(self.scratch, name, most_bytes)
        self.left_bytes -= len(content)
        if self.left_bytes < 0:
            raise ArtifactError(f"plans, kernels and sources together have more than {MAX_RESULT_BYTES >> 20} MiB")
        return content

    def read_json(self, name: str, most_bytes: int) -> Any:
        try:
            return parse_strict(self.read(name, most_bytes).decode("utf-8"))
        except ValueError:
            raise ArtifactError(f"{name} is not JSON") from None

    def read_source(self, digest: str) -> str:
        content = self.read(f"out/sources/{digest}.py", MAX_SOURCE_BYTES)
        if hashlib.sha256(content).hexdigest() != digest:
            raise ArtifactError(f"source {digest[:12]} does not hash to its name")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise ArtifactError(f"source {digest[:12]} is not UTF-8 text") from None


def _read_results(request: TraceRequest, progress: _Progress, end: Exit, results: _Results) -> Traced:
    plans = {s: parse_plan(results.read_json(f"out/plans/{s}.json", MAX_PLAN_BYTES)) for s in request.shapes}
    for shape, plan in plans.items():
        if plan.shape_id != shape or len(plan.inputs) != len(request.problem.inputs):
            raise ArtifactError(f"the plan of {shape} is not that shape's")
    launches = [launch for plan in plans.values() for launch in plan.launches]
    keys, digests = sorted({x.kernel for x in launches}), sorted({x.source for x in launches})
    if len(keys) > MAX_KERNELS:
        raise ArtifactError(f"{len(keys)} different kernels; {MAX_KERNELS} are allowed")
    documents = ((key, results.read_json(f"out/kernels/{key}.json", MAX_KERNEL_BYTES)) for key in keys)
    kernels = {key: parse_kernel_source(key, document) for key, document in documents}
    sources = {digest: results.read_source(digest) for digest in digests}
    claimed = sum(cost.cpu_s for cost in progress.costs.values())
    scale = min(1.0, end.cpu_s / claimed) if claimed else 1.0
    traced = ((shape, progress.costs[shape]) for shape in request.shapes)  # in their order, not as they ended
    costs = {shape: BuildCost(round(cost.cpu_s * scale, 3), cost.wall_s) for shape, cost in traced}
    rest = max(0.0, end.cpu_s - sum(cost.cpu_s for cost in costs.values()))
    wall_s = progress.imported.wall_s if progress.imported else 0.0
    # Shapes end in any order; what the author reads must not change from one run to the next.
    ordered = (text for shape in ("", *request.shapes) for text in progress.warnings.get(shape, []))
    warnings = tuple(dict.fromkeys(ordered))[:MAX_WARNINGS]
    return Traced(plans, kernels, sources, costs, BuildCost(round(rest, 3), wall_s), warnings)


def launch_lines(plans: Mapping[str, Plan], kernels: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return for each kernel the first shape that launches it, and the submission's line."""
    found: dict[str, tuple[str, int]] = {}
    for shape, plan in plans.items():
        for launch in plan.launches:
            if launch.kernel in kernels:
                found.setdefault(launch.kernel, (shape, launch.line))
    return found
