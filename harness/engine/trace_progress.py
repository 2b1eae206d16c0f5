"""What the events of a trace add up to: what was traced, what failed, and the verdict on a trace that fell short.

The events are hostile data: once the submission runs, it can say anything in the tracer's name. The verdict is that on
the first shape at fault, in the order of the request and not in that of their ends, which changes from run to run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.artifact import BuildCost
from harness.engine.budget import CompileBudget
from harness.engine.trace_results import TraceResults
from harness.errors import ArtifactError, WorkerError
from harness.frame import Frame
from harness.kernel import KernelSource
from harness.plan import Plan
from harness.sandbox import Exit
from harness.spec import Problem
from harness.strict_json import number, text
from harness.text import clean
from harness.trace.failures import REASONS
from harness.verdict import OURS, Kind, Verdict, judge_budget, judge_trace

MAX_WARNINGS = 50

WRITERS_REASONS = ("no_helion_launch", "output_not_from_kernel")
"""Reasons of verdicts that a launch of no program may lead to."""

_TOLD_LAUNCHES = 3
_MEND_GRID = (
    "A grid has a program for each tile: look at the sizes that it is made of (a division that comes to 0, an empty "
    "slice), and let it cover all that there is"
)

PlanCheck = Callable[[Mapping[str, Plan], Mapping[str, KernelSource]], Verdict | None]
"""Judges plans by shape, with the kernels that they launch by key."""

_LIMITS = {
    "memory": "the submission used more host memory than the trace has: build large tensors on the device",
    "output": "the submission printed more than the trace keeps: print less",
    "disk": "the submission wrote more to disk than the trace has: write less",
}


@dataclass
class Progress:
    """What is known so far.

    Attributes:
        shapes: all that are to be traced, in order.
        costs: of the shapes that are.
        begun: the submission runs, and may be what speaks.
        imported: what the import cost, None until it is done.
        running: the shapes that are being traced.
        failures: what was said of the shapes that failed; of the import by the name "".
        warnings: what the author should know, by shape, and "" for the import.
        empty_launches: the launches of no program, by shape.
    """

    shapes: Sequence[str]
    costs: dict[str, BuildCost] = field(default_factory=dict)
    begun: bool = False
    imported: BuildCost | None = None
    running: list[str] = field(default_factory=list)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)
    empty_launches: dict[str, list[str]] = field(default_factory=dict)

    def add(self, event: dict[str, Any]) -> str:
        """Take in an event; return the shape that it says was traced, if any."""
        kind, shape = event.get("event"), text(event, "shape", 200)
        cost = BuildCost(number(event, "cpu_s"), number(event, "wall_s"))
        if kind == "begun":
            self.begun = True
        elif kind == "imported":
            self.imported = cost
            self.warnings[""] = read_warnings(event.get("warnings"))
        elif kind == "failed" and (not shape or shape in self.shapes):
            self.failures.setdefault(shape, event)
            self.running = [s for s in self.running if s != shape]
        elif kind == "start" and shape in self.shapes and shape not in self.running:
            self.running.append(shape)
        elif kind == "traced" and shape in self.shapes:
            self.running = [s for s in self.running if s != shape]
            self.costs[shape] = cost
            self.warnings[shape] = read_warnings(event.get("warnings"))
            self.empty_launches[shape] = read_warnings(event.get("empty_launches"))
            return shape
        return ""

    def judge_failed(self, shape: str, others: Sequence[str] = ()) -> Verdict:
        """Return the verdict on a shape that failed, or on the import (""); `others` failed as well."""
        event, details = self.failures[shape], {"failed_shapes": [shape, *others]} if shape else {}
        reason = _believed(text(event, "reason", 64), begun=self.begun)
        return judge_trace(reason, text(event, "message"), shape, _frames(event), details)

    def judge_end(self, end: Exit, budget: CompileBudget) -> Verdict | None:
        """Return the verdict on a trace that has ended and fell short, None if it did not."""
        if end.limit in ("cpu", "wall"):
            done = {shape: cost.cpu_s for shape, cost in self.costs.items()}
            running = self.running if self.imported else ["the import of submission.py"]
            wall_s = budget.wall_s if end.limit == "wall" else None
            return judge_budget("trace", done, running, self.shapes, budget.cpu_s, budget.spent_cpu_s, wall_s)
        if end.limit is not None:
            return judge_trace(f"{end.limit}_limit", _LIMITS.get(end.limit, f"the trace was stopped: {end.limit}"))
        for shape in ("", *self.shapes):
            if shape in self.failures:
                return self.judge_failed(shape, sorted(set(self.failures) - {shape, ""}))
        missing = [shape for shape in self.shapes if shape not in self.costs]
        if missing:
            told = f"signal {end.signal}" if end.signal else f"exit code {end.code}"
            if not self.begun:  # nothing of the submission had run
                return judge_trace("harness_error", _tell_no_start(told, end.stderr))
            where = missing[0] if self.imported else ""
            message = f"the process ended ({told}) before it had traced {missing[0]}: submissions must not end it"
            return judge_trace("process_died", message, where, details={"stderr": end.stderr[-2000:]})
        return None


class EarlyJudge:
    """Judges each shape once it and all before it are traced: the first that breaks a rule ends the trace.

    A shape that fails in another way ends nothing: its author is told which others fail. What is found in order now
    may be changed until the process ends, and has to be judged again.
    """

    def __init__(self, problem: Problem, results: TraceResults, check: PlanCheck) -> None:
        self._problem, self._results, self._check = problem, results, check
        self._judged = 0

    def judge(self, progress: Progress) -> Verdict | None:
        """Judge what can be by now; return the verdict that ends the trace."""
        for shape in progress.shapes[self._judged :]:
            if shape in progress.failures:
                verdict = progress.judge_failed(shape)
                return verdict if verdict.kind is Kind.POLICY_VIOLATION else None
            if shape not in progress.costs:
                return None
            try:
                plan = self._results.read_plan(shape, self._problem)
                kernels = {key: self._results.read_kernel(key) for key in {x.kernel for x in plan.launches}}
            except (ArtifactError, WorkerError):  # it will be read again, and is at fault then
                return None
            found = self._check({shape: plan}, kernels)
            if found is not None:
                return _explain(found, progress.empty_launches.get(shape, []))
            self._judged += 1
        return None


def _explain(verdict: Verdict, empty_launches: Sequence[str]) -> Verdict:
    """Say with a verdict on who wrote the outputs that a launch ran nothing, if one did: no plan has it as a step."""
    if verdict.reason not in WRITERS_REASONS or not empty_launches:
        return verdict
    told = f"{verdict.message}: in {verdict.case}, {'; '.join(empty_launches[:_TOLD_LAUNCHES])}. {_MEND_GRID}"
    return replace(verdict, message=told)


def read_warnings(items: object) -> list[str]:
    """Return what of an event's warnings is text, cleaned, and not too much of it."""
    items = items[:MAX_WARNINGS] if isinstance(items, list) else []
    return [clean(item[:500], lines=True) for item in items if isinstance(item, str)]


def _tell_no_start(told: str, stderr: str) -> str:
    said = stderr.strip().splitlines()[-1:]
    broken = f"the tracer ended ({told}) before it had begun{f': {clean(said[0])}' if said else ''}"
    advice = f"Can {sys.executable} import harness and torch, from any folder? `make environment` mends .venv."
    return f"{broken}\n{advice} {OURS}"


def _believed(reason: str, *, begun: bool) -> str:
    """Return what to make of a reason: once the submission runs, it can say that it was our fault, or anything."""
    if reason == "harness_error" and begun:
        return "tracer_failed"
    return reason if reason in REASONS else "process_died"


def _frames(event: dict[str, Any]) -> tuple[Frame, ...]:
    items = event.get("traceback")
    frames = [item for item in items[:20] if isinstance(item, dict)] if isinstance(items, list) else []
    return tuple(Frame(int(number(f, "line")), text(f, "function", 100), text(f, "text", 300)) for f in frames)
