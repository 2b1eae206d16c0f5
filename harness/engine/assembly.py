"""The assembly stage: TTIR to cubins in a second sandbox, which holds nothing of the submission's.

A kernel that was assembled before, for the same target with the same toolchain, is taken from the cache with the cost
that it had then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.artifact import BuildCost, Kernel
from harness.engine.budget import CompileBudget
from harness.engine.kernel_cache import KernelCache
from harness.engine.progress import Event, Listener
from harness.engine.tracing import Traced, first_launches
from harness.engine.worker import WorkerJob, available_cores, start_worker
from harness.engine.workspace import scratch_folder
from harness.errors import ArtifactError, HarnessError
from harness.frame import Frame
from harness.kernel import MAX_CUBIN_BYTES, KernelSource, parse_facts
from harness.plan import LaunchStep
from harness.policy.options import CONTROLS
from harness.sandbox import Exit, Level, Mount, read_result, visible
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


KernelCheck = Callable[[Kernel], Verdict | None]


@dataclass
class _Progress:
    """What is known so far of the kernels, by key; `order` has all of them, those of the first shape first.

    A kernel's fault decides once all kernels before it are judged: the verdict must not hang on which was faster.
    """

    order: Sequence[str]
    check: KernelCheck | None
    kernels: dict[str, Kernel] = field(default_factory=dict)
    costs: dict[str, BuildCost] = field(default_factory=dict)
    running: list[str] = field(default_factory=list)
    faults: dict[str, Verdict] = field(default_factory=dict)

    def add(self, kernel: Kernel, cost: BuildCost) -> None:
        """Take in a kernel that was assembled, now or before, and judge it."""
        key = kernel.source.key
        self.kernels[key], self.costs[key] = kernel, cost
        fault = self.check(kernel) if self.check is not None else None
        if fault is not None:
            self.faults[key] = fault

    def verdict(self, *, ended: bool = False) -> Verdict | None:
        """Return that on the first kernel at fault; None while one before it may still turn out to be."""
        for key in self.order:
            if key in self.faults:
                return self.faults[key]
            if key not in self.kernels and not ended:
                return None
        return None


def run_assembly(
    traced: Traced,
    target: Target,
    season: Season,
    level: Level,
    cache: KernelCache,
    budget: CompileBudget,
    listener: Listener,
    check: KernelCheck | None = None,
) -> Assembled | Verdict:
    """Assemble the kernels that the cache lacks, over all cores; stop at the first that fails, or fails a check."""
    progress = _Progress(_in_order(traced), check)
    for key in progress.order:
        kernel = cache.load(traced.kernels[key])
        if kernel is not None:
            progress.add(kernel, BuildCost(kernel.facts.cpu_s, kernel.facts.cpu_s))
    cached = frozenset(progress.kernels)
    budget.charge(sum(cost.cpu_s for cost in progress.costs.values()))
    missing = [traced.kernels[key] for key in progress.order if key not in cached]
    listener(Event("assemble", "start", done=len(cached), total=len(traced.kernels)))
    verdict = progress.verdict()
    if missing and verdict is None and not budget.spent:
        with scratch_folder() as scratch:
            worker = _start(missing, target, season, level, budget, scratch)
            verdict = _follow(worker, traced, progress, budget, listener)
    if verdict is not None:
        return verdict
    if budget.spent:
        return _judge_budget(traced, progress.costs, [], budget)
    for source in missing:
        cache.save(progress.kernels[source.key])
    listener(Event("assemble", "end", f"{len(missing)} assembled, {len(cached)} from the cache"))
    return Assembled(progress.kernels, progress.costs, cached)


def _in_order(traced: Traced) -> list[str]:
    """Return the kernels' keys, in the order in which the plans launch them."""
    return list(dict.fromkeys((*first_launches(traced.plans, list(traced.kernels)), *traced.kernels)))


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
    worker: WorkerJob, traced: Traced, progress: _Progress, budget: CompileBudget, listener: Listener
) -> Verdict | None:
    """Read events until the worker ends or nothing can change the verdict; return the verdict of a failure."""
    for event in worker.events():
        key = text(event, "kernel", 64)
        if key not in traced.kernels:
            continue
        progress.running = [k for k in progress.running if k != key] + ([key] if event.get("event") == "start" else [])
        if event.get("event") == "failed":
            progress.faults.setdefault(key, _judge_failure(event, key, traced))
        elif event.get("event") == "assembled":
            cost = BuildCost(number(event, "cpu_s"), number(event, "wall_s"))
            progress.add(_read_kernel(worker.scratch, traced.kernels[key], cost), cost)
            name, done = progress.kernels[key].facts.name, len(progress.kernels)
            listener(Event("assemble", "advance", name, done, len(progress.order)))
        if progress.verdict() is not None:
            worker.job.stop("judged")
    end = worker.wait()
    budget.charge(end.cpu_s)
    return progress.verdict(ended=True) or _judge_end(end, traced, progress, budget)


def _judge_end(end: Exit, traced: Traced, progress: _Progress, budget: CompileBudget) -> Verdict | None:
    """Return the verdict on kernels that a limit ended, None if all are assembled.

    Raises:
        HarnessError: the assembler ended by itself.
    """
    if end.limit in ("cpu", "wall") or budget.spent:
        return _judge_budget(traced, progress.costs, progress.running, budget)
    if end.limit in _LIMITS:
        running = first_launches(traced.plans, progress.running)
        shape, launch = running.get(progress.running[0], ("", None)) if progress.running else ("", None)
        return judge_assembly(f"{end.limit}_limit", _LIMITS[end.limit], shape, _frames(launch))
    if set(progress.kernels) != set(progress.order):
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
    shape, launch = first_launches(traced.plans, [key]).get(key, ("", None))
    message = (f"kernel {launch.function}: " if launch else "") + text(event, "message")
    return judge_assembly(text(event, "reason", 64), message, shape, _frames(launch))


def _frames(launch: LaunchStep | None) -> tuple[Frame, ...]:
    """Return where a kernel is launched; `rules` adds the line's text, which is the submission's."""
    return (Frame(launch.line, "", ""),) if launch and launch.line else ()


def _judge_budget(traced: Traced, costs: Mapping[str, BuildCost], running: list[str], budget: CompileBudget) -> Verdict:
    used = {shape: {launch.kernel for launch in plan.launches} for shape, plan in traced.plans.items()}
    done = {
        shape: traced.costs[shape].cpu_s + sum(costs[key].cpu_s for key in sorted(keys))
        for shape, keys in used.items()
        if keys <= set(costs)
    }
    compiling = sorted({shape for shape, _ in first_launches(traced.plans, running).values()})
    wall_s = budget.wall_s if budget.left_cpu_s > 0 else None
    return judge_budget("assemble", done, compiling, list(traced.plans), budget.cpu_s, budget.spent_cpu_s, wall_s)
