"""What breaks a rule ends a build where it is seen: no other shape is traced for it, and no other kernel assembled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.artifact import BuildCost, Kernel
from harness.engine.assembly import run_assembly
from harness.engine.budget import CompileBudget
from harness.engine.kernel_cache import KernelCache
from harness.engine.progress import Event
from harness.engine.trace_progress import EarlyJudge, Progress
from harness.engine.trace_results import TraceResults
from harness.engine.tracing import Traced
from harness.kernel import KernelSource, kernel_key
from harness.plan import Plan, encode_plan
from harness.policy import check_plan
from harness.sandbox import Exit, best_level
from harness.spec import load_season
from harness.spec.problem import load_problem
from harness.target import load_target
from harness.verdict import Verdict, judge_policy
from tests.core.test_policy import launch, op, plan
from tests.engine.conftest import TEMPLATE
from tests.engine.forged import COPY, assembled, variant

SHAPES = ("M4", "M8", "M64")
KEY = kernel_key(COPY, {})
PROBLEM = load_problem(TEMPLATE / "problems" / "scale")
BREAKS = op("aten.mul.Tensor", 2, 2, out=3)


def test_a_plan_that_breaks_a_rule_ends_the_trace(workspace, starter):
    """The second shape's does; the third would never end."""
    hanging = "y = scale(x, s)\n    while x.size(0) == 64:\n        pass\n    return y * 1.0 if x.size(0) == 8 else y"
    record = workspace.submit(starter.replace("return scale(x, s)", hanging), code=1)
    verdict = record["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("POLICY_VIOLATION", "host_operation"), verdict
    assert (verdict["stage"], verdict["case"]) == ("policy", "M8_N64")
    assert {case["status"] for case in record["cases"]} == {"not_run"}


def test_a_launch_of_no_program_is_told_with_its_line_and_shape(workspace, starter):
    """Of 4 rows an eighth is none."""
    rounded = starter.replace("hl.tile(x.shape)", "hl.tile([x.size(0) // 8, x.size(1)])")
    verdict = workspace.submit(rounded, code=1)["verdict"]
    assert (verdict["kind"], verdict["reason"], verdict["case"]) == ("POLICY_VIOLATION", "no_helion_launch", "M4_N32")
    line = 1 + rounded.splitlines().index("    return scale(x, s)")
    told, advice = verdict["message"].split(". ")
    assert told == (
        f"custom_kernel launches no Helion kernel: in M4_N32, kernel _helion_scale is launched at line {line} with a "
        "grid of 0 programs, (0, 1, 1), which runs nothing"
    )
    assert advice.startswith("A grid has a program for each tile: look at the sizes that it is made of ")


class Trace:
    """What a trace of three shapes leaves, by hand, and the judge of it."""

    def __init__(self, scratch: Path) -> None:
        self.progress = Progress(SHAPES)
        self._out = scratch / "out"
        for name in ("plans", "kernels"):
            (self._out / name).mkdir(parents=True)
        document = {"ttir": COPY, "options": {}, "name": "copy", "params": ["*fp32", "*fp32", "i32"]}
        (self._out / "kernels" / f"{KEY}.json").write_text(json.dumps(document))
        self._judge = EarlyJudge(PROBLEM, TraceResults(scratch), judge_by_policy)

    def write(self, shape: str, *more: Any) -> None:
        """Leave a plan: the honest one, with more steps."""
        steps = (op("aten.empty_like.default", 0, out=2), replace(launch(0, 1, 2), kernel=KEY), *more)
        found = replace(plan(*steps, inputs=(0, 1), outputs=(2,)), shape_id=shape)
        (self._out / "plans" / f"{shape}.json").write_text(json.dumps(encode_plan(found)))

    def tell(self, event: str, shape: str, **more: Any) -> Verdict | None:
        self.progress.add({"event": event, "shape": shape, **more})
        return self._judge.judge(self.progress)


def judge_by_policy(plans: Mapping[str, Plan], kernels: Mapping[str, KernelSource]) -> Verdict | None:
    assert {step.kernel for found in plans.values() for step in found.launches} == set(kernels)
    for shape, found in plans.items():
        for violation in check_plan(found, "closed"):
            return judge_policy(violation.reason, violation.message, shape)
    return None


def test_shapes_are_judged_in_their_order_and_not_in_that_of_their_ends(tmp_path):
    trace = Trace(tmp_path)
    for shape, more in zip(SHAPES, ((), (BREAKS,), (BREAKS,)), strict=True):
        trace.write(shape, *more)
    assert trace.tell("traced", "M64") is None
    assert trace.tell("traced", "M8") is None
    verdict = trace.tell("traced", "M4")
    assert verdict is not None
    assert (verdict.reason, verdict.case) == ("host_operation", "M8")


def test_a_shape_that_fails_before_it_decides_and_all_are_traced(tmp_path):
    trace = Trace(tmp_path)
    trace.write("M8", BREAKS)
    assert trace.tell("failed", "M4", reason="call_error") is None
    assert trace.tell("traced", "M8") is None
    assert trace.tell("failed", "M64", reason="call_error") is None
    verdict = trace.progress.judge_end(Exit(0, None, None, 1.0, 1.0, "", 0), CompileBudget(1, 1))
    assert verdict is not None
    assert (verdict.reason, verdict.case, verdict.details) == ("call_error", "M4", {"failed_shapes": ["M4", "M64"]})


def test_an_empty_launch_explains_an_output_that_is_nobodys_and_nothing_else(tmp_path):
    told = "kernel k is launched at line 9 with a grid of 0 programs"
    fill = op("aten.zero_.default", 2, out=3)
    for step, reason, explained in ((fill, "output_not_from_kernel", True), (BREAKS, "host_operation", False)):
        trace = Trace(tmp_path / reason)
        trace.write("M4", step)
        verdict = trace.tell("traced", "M4", empty_launches=[told])
        assert verdict is not None
        assert verdict.reason == reason
        assert (f": in M4, {told}. A grid has a program for each tile: " in verdict.message) is explained


def test_what_breaks_a_rule_in_the_trace_itself_ends_it(tmp_path):
    trace = Trace(tmp_path)
    assert trace.tell("failed", "M8", reason="autotuning_refused") is None
    verdict = trace.tell("failed", "M4", reason="autotuning_refused")
    assert verdict is not None
    assert (verdict.kind, verdict.case) == ("POLICY_VIOLATION", "M4")
    assert verdict.details == {"failed_shapes": ["M4"]}, "whatever others had failed by then"


def test_a_plan_that_is_not_there_ends_nothing(tmp_path):
    trace = Trace(tmp_path)
    assert trace.tell("traced", "M4") is None
    trace.write("M4", BREAKS)
    verdict = trace.tell("start", "M64")
    assert verdict is not None
    assert (verdict.reason, verdict.case) == ("host_operation", "M4")


def traced(*texts: str) -> Traced:
    """Kernels that were traced, each launched by a shape of its own."""
    sources = [KernelSource(kernel_key(text, {"num_warps": 4}), text, (("num_warps", 4),)) for text in texts]
    plans = {}
    for shape, source in zip(SHAPES, sources, strict=True):
        steps = (replace(launch(0), kernel=source.key),)
        plans[shape] = replace(plan(*steps, outputs=(0,)), shape_id=shape)
    kernels = {source.key: source for source in sorted(sources, key=lambda source: source.key)}
    return Traced(plans, kernels, {}, dict.fromkeys(SHAPES, BuildCost(0, 0)), BuildCost(0, 0), ())


def assemble_until(refused: tuple[str, ...], found: Traced, cache: KernelCache) -> tuple[Any, list[Event]]:
    """Assemble what was traced, with a check that refuses the kernels of some shapes; return what came of it."""
    shapes = {step.kernel: shape for shape, plan in found.plans.items() for step in plan.launches}

    def check(kernel: Kernel) -> Verdict | None:
        shape = shapes[kernel.source.key]
        return judge_policy("refused", "it is", shape) if shape in refused else None

    events: list[Event] = []
    season, target, budget = load_season(TEMPLATE), load_target("b200"), CompileBudget(120, 240)
    level = best_level().level
    return run_assembly(found, target, season, level, cache, budget, events.append, check), events


def test_of_kernels_that_break_a_rule_that_of_the_first_shape_decides(tmp_path):
    found = traced(variant(0), COPY, variant(1))
    verdict, events = assemble_until(("M64", "M8"), found, KernelCache(tmp_path))
    assert verdict == judge_policy("refused", "it is", "M8")
    assert "end" not in {event.state for event in events}


def test_a_kernel_from_the_cache_that_breaks_a_rule_has_no_other_assembled(tmp_path):
    (kernel,) = assembled(tmp_path, {"copy": COPY}).values()
    cache = KernelCache(tmp_path / "cache")
    cache.save(kernel)
    verdict, events = assemble_until(("M4",), traced(COPY, variant(0), variant(1)), cache)
    assert verdict == judge_policy("refused", "it is", "M4")
    assert [(event.state, event.done, event.total) for event in events] == [("start", 1, 3)]
