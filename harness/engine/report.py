"""From what the stages gave to what the store keeps: parts of a record. Pure."""

from __future__ import annotations

import math

from harness.artifact import Artifact
from harness.case import Case
from harness.engine.checking import CaseResult
from harness.replay.judgement import Judgement, OutputReport
from harness.store import (
    BuildRecord,
    CaseRecord,
    KernelRecord,
    OutputError,
    VerdictRecord,
    WrongElement,
)
from harness.target import Target
from harness.verdict import Verdict


def report_verdict(verdict: Verdict) -> VerdictRecord:
    """Return a verdict in the record's form."""
    return VerdictRecord(
        kind=verdict.kind.value,
        stage=verdict.stage,
        case=verdict.case or None,
        reason=verdict.reason,
        message=verdict.message,
        traceback=tuple(verdict.traceback),
        details=dict(verdict.details),
    )


def explain_failure(message: str, judgement: Judgement | None) -> str:
    """Return what went wrong in a case, and the likely cause where the judge has one."""
    cause = judgement.likely_cause if judgement else None
    return f"{message}\nLikely cause: {cause}" if cause else message


def report_build(artifact: Artifact, budget_s: float) -> BuildRecord:
    """Return what the build cost: each shape with its trace and the kernels that it was the first to launch."""
    manifest = artifact.manifest
    shapes: dict[str, float] = {}
    seen: set[str] = set()
    wall_s = manifest.import_cost.wall_s
    for shape, plan in artifact.plans.items():
        new = {launch.kernel for launch in plan.launches} - seen
        seen |= new
        costs = [manifest.shapes[shape], *(manifest.kernels[key] for key in sorted(new))]
        shapes[shape] = round(sum(cost.cpu_s for cost in costs), 3)
        wall_s += sum(cost.wall_s for cost in costs)
    return BuildRecord(round(manifest.cpu_s, 3), round(wall_s, 3), budget_s, shapes)


def report_kernels(artifact: Artifact, target: Target, cached: frozenset[str]) -> tuple[KernelRecord, ...]:
    """Return the compile report: a row for each shape and kernel, in the order of the launches."""
    rows = []
    for shape, plan in artifact.plans.items():
        for key in dict.fromkeys(launch.kernel for launch in plan.launches):
            facts = artifact.kernels[key].facts
            rows.append(
                KernelRecord(
                    shape_id=shape,
                    name=facts.name,
                    registers=facts.registers,
                    stack_bytes=facts.stack_bytes,
                    shared_bytes=facts.shared_bytes + facts.static_shared_bytes,
                    warps=facts.warps,
                    stages=facts.stages,
                    occupancy=round(facts.occupancy(target), 3),
                    cpu_s=artifact.manifest.kernels[key].cpu_s,
                    cached=key in cached,
                )
            )
    return tuple(rows)


def report_case(result: CaseResult) -> CaseRecord:
    """Return one case's result in the record's form."""
    partly = result.status == "passed" and result.sampled and result.programs_run < result.programs_total
    status = "partial" if partly else result.status
    message = f"{result.programs_run} of {result.programs_total} programs checked" if partly else result.message
    return CaseRecord(
        case_id=result.case.id,
        role=result.case.role,
        shape=result.case.sizes,
        distribution=result.case.distribution,
        status="built" if status == "not_run" and result.reason != "after_failure" else status,
        reason=result.reason,
        message=message,
        errors=report_outputs(result.judgement) if result.judgement else (),
        seconds=result.seconds or None,
        seeds=(result.seed,) if result.seed else (),
    )


def report_unrun(case: Case) -> CaseRecord:
    """Return the record of a case that no stage reached."""
    return CaseRecord(case.id, case.role, case.sizes, case.distribution, "not_run")


def report_outputs(judgement: Judgement) -> tuple[OutputError, ...]:
    """Return what a judgement says of each output in the record's form."""
    return tuple(_report_output(report) for report in judgement.outputs)


def _relative_l2(report: OutputReport) -> float:
    """The relative error; where there is none, 0 if the reference is all zero, not a number if an element is not."""
    if report.relative_l2 is not None:
        return report.relative_l2
    return math.nan if report.not_finite_elements else 0.0


def _report_output(report: OutputReport) -> OutputError:
    examples = [e for e in (report.worst, report.first_wrong, *report.examples) if e is not None]
    unique = {e.index: WrongElement(e.index, e.got, e.expected) for e in examples}
    return OutputError(
        output=report.name,
        max_abs=report.max_abs,
        max_rel=report.max_rel,
        relative_l2=_relative_l2(report),
        worst_over_tolerance=report.worst_over_tolerance,
        wrong_elements=report.wrong_elements,
        total_elements=report.total_elements,
        examples=tuple(unique.values()),
    )
