"""The rules, applied to what a build made: plans and kernels against the problem, the division and the season.

Pure, and hostile data all of it: a plan and a kernel's IR come from the submission's process. A build is held against
the rules when it is made, and again whenever it is taken from where it was kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from harness.artifact import Kernel, find_own_memory
from harness.case import Case
from harness.engine.request import BuildRequest
from harness.engine.tracing import first_launches
from harness.frame import Frame
from harness.kernel import KernelSource
from harness.plan import LaunchStep, Plan, TensorMeta, row_major
from harness.policy import Violation, check_options, check_plan
from harness.replay.form import Form, check_form
from harness.spec import Problem
from harness.submission import Submission
from harness.verdict import Verdict, judge_assembly, judge_policy, judge_replay


def check_plans(
    request: BuildRequest, plans: Mapping[str, Plan], sources: Mapping[str, KernelSource]
) -> Verdict | None:
    """Hold plans against the rules, before anything is compiled: tensors' forms, host program, launch options."""
    controls = frozenset(item.id for item in request.season.advanced_controls)
    buffers = tuple(i for i, tensor in enumerate(request.problem.inputs) if tensor.buffer)
    for shape, plan in plans.items():
        if not _takes_inputs(plan, request.problem, request.shapes[shape]):
            message = "the plan takes other inputs than the problem has: shape, dtype and layout are not its to choose"
            return judge_policy("input_form", message, shape)
        forms = [Form(t.dtype, t.shape, t.strides) for t in (plan.tensors[n] for n in plan.outputs)]
        judgement = check_form(request.problem, request.shapes[shape].sizes, forms, plan.output_kind)
        if judgement is not None:
            return judge_replay(str(judgement.reason), judgement.message, shape)
        violations = list(check_plan(plan, request.division, buffers))
        for launch in plan.launches:
            violations += check_options(dict(sources[launch.kernel].options), controls, launch.line)
        if violations:
            return _judge_violation(violations[0], shape, request.submission)
    return None


def _takes_inputs(plan: Plan, problem: Problem, case: Case) -> bool:
    """Tell whether a plan takes the problem's inputs as they are: another layout would be made for it, untimed."""
    sizes = problem.input_sizes(case.sizes)
    wanted = [TensorMeta(s, row_major(s), spec.dtype) for s, spec in zip(sizes, problem.inputs, strict=True)]
    return [plan.tensors[number] for number in plan.inputs] == wanted


def check_kernel(request: BuildRequest, plans: Mapping[str, Plan], kernel: Kernel) -> Verdict | None:
    """Hold what the compiler found in a kernel's IR against the division and the target."""
    shape, launch = first_launches(plans, [kernel.source.key])[kernel.source.key]
    line = launch.line
    if kernel.facts.assembly and request.division == "closed":
        message = (
            f"kernel {kernel.facts.name} holds inline assembly ({kernel.facts.assembly[0][:80]!r}): the closed "
            "division takes Helion's own operations only"
        )
        return _judge_violation(Violation("inline_assembly", message, line), shape, request.submission)
    kept = find_own_memory(kernel, request.target.static_shared_bytes)
    if kept:
        violation = Violation("inline_assembly", f"kernel {kernel.facts.name} {kept}", line)
        return _judge_violation(violation, shape, request.submission)
    if not kernel.facts.stores:
        message = f"kernel {kernel.facts.name} stores nothing, so that its launch computes nothing: drop it"
        return _judge_violation(Violation("stores_nothing", message, line), shape, request.submission)
    fault = kernel.facts.find_excess(request.target)
    if fault is not None:
        message = f"kernel {kernel.facts.name} {fault}: use a smaller tile, fewer stages or fewer warps"
        return judge_assembly("out_of_resources", message, shape, _frames(line, request.submission))
    return None


def check_kernels(request: BuildRequest, plans: Mapping[str, Plan], kernels: Mapping[str, Kernel]) -> Verdict | None:
    """Hold all kernels against the division and the target, and their parameters against the plans' launches."""
    for kernel in kernels.values():
        verdict = check_kernel(request, plans, kernel)
        if verdict is not None:
            return verdict
    for shape, plan in plans.items():
        for launch in plan.launches:
            fault = _find_mismatch(launch, kernels[launch.kernel].facts.params)
            if fault:
                return _judge_violation(Violation("launch_mismatch", fault, launch.line), shape, request.submission)
    return None


def _find_mismatch(launch: LaunchStep, params: tuple[str, ...]) -> str | None:
    """Compare a launch's arguments with the compiled kernel's parameters: the plan may claim what it likes."""
    given = [a.type for a in launch.args if a.type != "constexpr"]
    if any(kind.startswith("tensordesc") for kind in given):
        return None  # one descriptor becomes several parameters; the runner expands and compares them
    if len(given) != len(params):
        return f"{launch.function} is launched with {len(given)} arguments; its code takes {len(params)}"
    for kind, param in zip(given, params, strict=True):
        if kind.startswith("*") != param.startswith("*"):
            return f"{launch.function} is launched with {kind} where its code takes {param}"
    return None


def quote_lines(verdict: Verdict, submission: Submission) -> Verdict:
    """Return a verdict whose traceback has the text of the submission's lines, where only their numbers were known."""
    frames = [(frame,) if frame.text else _frames(frame.line, submission) for frame in verdict.traceback]
    return replace(verdict, traceback=tuple(chain.from_iterable(frames)))


def _judge_violation(violation: Violation, shape: str, submission: Submission) -> Verdict:
    return judge_policy(violation.reason, violation.message, shape, _frames(violation.line, submission))


def _frames(line: int, submission: Submission) -> tuple[Frame, ...]:
    """Return the submission's line as a traceback of one frame, none if the line is unknown."""
    lines = submission.source.splitlines()
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return (Frame(line, "", text),) if line else ()
