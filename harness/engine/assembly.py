"""The assembly stage: TTIR to cubins in a second sandbox, which holds nothing of the submission's.

A kernel that was assembled before, for the same target with the same toolchain, is taken from the cache with the cost
that it had then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.artifact import BuildCost, Kernel
from harness.engine.budget import CompileBudget
from harness.engine.kernel_cache import KernelCache
from harness.engine.progress import Event, Listener
from harness.engine.tracing import Traced, launch_lines
from harness.engine.worker import WorkerJob, available_cores, start_worker
from harness.engine.workspace import scratch_folder
from harness.errors import ArtifactError, HarnessError
from harness.frame import Frame
from harness.kernel import MAX_CUBIN_BYTES, KernelSource, parse_facts
from harness.policy.options import CONTROLS
from harness.sandbox import Level, Mount, read_result, visible
from harness.spec import Season
from harness.strict_json import number, parse_strict, text
from harness.target import Target
from harness.verdict import Verdict, judge_assembly, judge_budget


@dataclass(frozen=True)
class Assembled:
    """Every kernel of a build with its cost; `cached` names those that were taken from the cache."""

    kernels: Mapping[str, Kernel]
    costs: Mapping[str, BuildCost]
    cached: frozenset[str]


def run_assembly(
    traced: Traced,
    target: Target,
    season: Season,
    level: Level,
    cache: KernelCache,
    budget: CompileBudget,
    listener: Listener,
) -> Assembled | Verdict:
    """Assemble the kernels that the cache lacks, over all cores; stop at the first that fails."""
    kernels = {key: kernel for key in traced.kernels if (kernel := cache.load(traced.kernels[key])) is not None}
    costs = {key: BuildCost(kernel.facts.cpu_s, kernel.facts.cpu_s) for key, kernel in kernels.items()}
    cached = frozenset(kernels)
    budget.charge(sum(cost.cpu_s for cost in costs.values()))
    missing = [source for key, source in traced.kernels.items() if key not in kernels]
    listener(Event("assemble", "start", done=len(cached), total=len(traced.kernels)))
    if missing and not budget.spent:
        with scratch_folder() as scratch:
            worker = _start(missing, target, season, level, budget, scratch)
            failure = _follow(worker, traced, kernels, costs, budget, listener)
            if failure is not None:
                return failure
        for source in missing:
            cache.save(kernels[source.key])
    if budget.spent:
        return _judge_budget(traced, costs, [], budget)
    listener(Event("assemble", "end", f"{len(missing)} assembled, {len(cached)} from the cache"))
    return Assembled(kernels, costs, cached)


def _start(
    missing: list[KernelSource], target: Target, season: Season, level: Level, budget: CompileBudget, scratch: Path
) -> WorkerJob:
    request = {
        "architecture": target.architecture,
        "jobs": available_cores(),
        "kernel_wall_s": season.budgets.kernel_wall_s,
        "kernels": [_describe(source, season, level) for source in missing],
    }
    cpu_s, wall_s = budget.left_cpu_s, budget.left_wall_s
    mounts = [Mount(item.file, item.path) for item in season.advanced_controls]
    return start_worker("harness.assemble", request, scratch, level, cpu_s=cpu_s, wall_s=wall_s, mounts=mounts)


def _describe(source: KernelSource, season: Season, level: Level) -> dict[str, Any]:
    options = dict(source.options)
    controls = options.pop(CONTROLS, None)
    files = {item.id: visible(level, Mount(item.file, item.path)) for item in season.advanced_controls}
    ptx_options = f"--apply-controls={files[str(controls)]}" if controls is not None else None
    return {"key": source.key, "ttir": source.ttir, "options": options, "ptx_options": ptx_options}


def _follow(
    worker: WorkerJob,
    traced: Traced,
    kernels: dict[str, Kernel],
    costs: dict[str, BuildCost],
    budget: CompileBudget,
    listener: Listener,
) -> Verdict | None:
    """Read events until the worker ends, filling `kernels` and `costs`; return the verdict of a failure."""
    running: list[str] = []
    failure: Verdict | None = None
    for event in worker.events():
        key = text(event, "kernel", 64)
        if key not in traced.kernels:
            continue
        running = [k for k in running if k != key] + ([key] if event.get("event") == "start" else [])
        if event.get("event") == "failed":
            failure = failure or _judge_failure(event, key, traced)
            worker.job.stop("failed")
        elif event.get("event") == "assembled":
            cost = BuildCost(number(event, "cpu_s"), number(event, "wall_s"))
            kernels[key] = _read_kernel(worker.scratch, traced.kernels[key], cost)
            costs[key] = cost
            listener(Event("assemble", "advance", kernels[key].facts.name, len(kernels), len(traced.kernels)))
    end = worker.wait()
    budget.charge(end.cpu_s)
    if failure is not None:
        return failure
    if end.limit in ("cpu", "wall") or budget.spent:
        return _judge_budget(traced, costs, running, budget)
    if end.limit in _LIMITS:
        shape, line = launch_lines(traced.plans, running).get(running[0], ("", 0)) if running else ("", 0)
        frames = (Frame(line, "", ""),) if line else ()
        return judge_assembly(f"{end.limit}_limit", _LIMITS[end.limit], shape, frames)
    if set(kernels) != set(traced.kernels):
        told = end.limit or (f"signal {end.signal}" if end.signal else f"exit code {end.code}")
        raise HarnessError(f"the assembler ended early ({told}): {end.stderr[-500:].strip() or 'no message'}")
    return None


_LIMITS = {
    "memory": "assembling the kernels takes more memory than there is: use smaller tiles or fewer unrolled steps",
    "disk": "assembling the kernels takes more disk than there is: use smaller tiles or fewer unrolled steps",
}


def _read_kernel(scratch: Path, source: KernelSource, cost: BuildCost) -> Kernel:
    try:
        facts = parse_strict(read_result(scratch, f"out/{source.key}.json", 1 << 20).decode("utf-8"))
    except ValueError:
        raise ArtifactError(f"kernel {source.key[:12]}: its facts are not JSON") from None
    cubin = read_result(scratch, f"out/{source.key}.cubin", MAX_CUBIN_BYTES)
    return Kernel(source, cubin, parse_facts(facts | {"cpu_s": cost.cpu_s}))


def _judge_failure(event: dict[str, Any], key: str, traced: Traced) -> Verdict:
    shape, line = launch_lines(traced.plans, [key]).get(key, ("", 0))
    frames = (Frame(line, "", ""),) if line else ()
    return judge_assembly(text(event, "reason", 64), text(event, "message"), shape, frames)


def _judge_budget(traced: Traced, costs: Mapping[str, BuildCost], running: list[str], budget: CompileBudget) -> Verdict:
    used = {shape: {launch.kernel for launch in plan.launches} for shape, plan in traced.plans.items()}
    done = {
        shape: traced.costs[shape].cpu_s + sum(costs[key].cpu_s for key in sorted(keys))
        for shape, keys in used.items()
        if keys <= set(costs)
    }
    compiling = sorted({shape for shape, _ in launch_lines(traced.plans, running).values()})
    wall_s = budget.wall_s if budget.left_cpu_s > 0 else None
    return judge_budget("assemble", done, compiling, list(traced.plans), budget.cpu_s, budget.spent_cpu_s, wall_s)
