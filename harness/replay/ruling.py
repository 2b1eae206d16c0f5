"""From comparisons to one judgement: which reason counts, and in which words the author reads it.

Several things can be wrong at once; the one reported is the likeliest cause of the others: a modified input, then
elements nobody wrote, then NaN and infinity, then wrong values, then precision.
"""

from __future__ import annotations

import math

import torch

from harness.replay.asked import Problem
from harness.replay.compare import Comparison, compare_output
from harness.replay.diagnosis import diagnose
from harness.replay.evidence import Evidence
from harness.replay.holes import diagnose_not_finite, diagnose_unwritten
from harness.replay.inputs import Received, Sample
from harness.replay.judgement import Judgement, Reason, failed
from harness.replay.place import axis_labels, describe_region, place
from harness.replay.poison import same_bits

Finding = tuple[Reason, str, str | None]


def rule(
    problem: Problem, sample: Sample, received: Received, not_finite_allowed: frozenset[str] = frozenset()
) -> Judgement:
    """Judge everything that came back from one call.

    Args:
        problem: names, axes and tolerances.
        sample: what was sent and what is expected.
        received: what came back, its form already checked.
        not_finite_allowed: outputs whose reference may hold NaN or infinity.
    """
    comparisons = [
        _compare(problem, number, sample, received, spec.name in not_finite_allowed)
        for number, spec in enumerate(problem.outputs)
    ]
    reports = tuple(comparison.report for comparison in comparisons)
    modified = _modified_input(problem, sample, received)
    if modified is not None:
        return failed("input_modified", modified, reports)
    if not any(report.total_elements for report in reports) and any(t.numel() for t in sample.expected):
        return failed("malformed_output", "the replay stored no element of any output in the programs it ran", reports)
    inputs = {spec.name: t for spec, t in zip(problem.inputs, sample.inputs, strict=True) if not spec.buffer}
    for find in (_find_unwritten, _find_not_finite, _find_wrong, _find_imprecise):
        for comparison in comparisons:
            finding = find(comparison, inputs)
            if finding is not None:
                reason, message, cause = finding
                return failed(reason, message, reports, cause)
    return Judgement("passed", reports)


def _compare(problem: Problem, number: int, sample: Sample, received: Received, allowed: bool) -> Comparison:
    spec, got, expected = problem.outputs[number], received.outputs[number], sample.expected[number]
    buffers = {tensor.name: sent for tensor, sent in zip(problem.inputs, sample.inputs, strict=True) if tensor.buffer}
    before, stored = buffers.get(spec.name), received.stored.get(number)
    comparable = before is not None and (before.dtype, before.shape) == (got.dtype, got.shape)
    return compare_output(
        got.to(expected.device),
        expected,
        problem.tolerance_of(spec.name),
        name=spec.name,
        axes=axis_labels(problem, spec, sample.request.sizes),
        compared=None if stored is None else (stored.view(torch.uint8) != 0).to(expected.device),
        not_finite_allowed=allowed,
        before=before if comparable else None,
    )


def _modified_input(problem: Problem, sample: Sample, received: Received) -> str | None:
    for number, spec in enumerate(problem.inputs):
        if spec.buffer:
            continue
        after = received.inputs[number]
        changed = ~same_bits(after, sample.inputs[number].to(after.device))
        count = int(changed.sum())
        if count:
            axes = axis_labels(problem, spec, sample.request.sizes)
            index = tuple(int(i) for i in changed.nonzero()[0])
            share = f"{count} of {changed.numel()} elements, the first at {place(spec.name, axes, index)}"
            return f"input {spec.name} was modified by the call ({share}): only outputs may be written"
    return None


def _find_unwritten(comparison: Comparison, inputs: dict[str, torch.Tensor]) -> Finding | None:
    count, total = int(comparison.unwritten.sum()), comparison.report.total_elements
    if not count:
        return None
    name = comparison.report.name
    share = "no element" if count == total else f"{_share(count, total)} elements"
    verb = "was ever written" if count == total else "were never written, or were computed from unwritten memory"
    region = _region(comparison, comparison.unwritten)
    message = f"output {name}: {share} {verb}{region}"
    cause = None if comparison.compared is not None else diagnose_unwritten(comparison.unwritten, comparison.axes)
    return "unwritten", message, cause


def _find_not_finite(comparison: Comparison, inputs: dict[str, torch.Tensor]) -> Finding | None:
    report = comparison.report
    if not report.not_finite_elements:
        return None
    assert report.first_wrong is not None
    position = int(comparison.not_finite.flatten().nonzero()[0])
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(position), comparison.not_finite.shape))
    got = float(comparison.got.flatten()[position].to(torch.float64))
    where = f"{place(report.name, comparison.axes, index)} is {_number(got)}"
    expected = _number(float(comparison.expected.flatten()[position]))
    message = (
        f"{where}, expected {expected}; {_share(report.not_finite_elements, report.total_elements)} elements of "
        f"{report.name} are NaN or infinite{_region(comparison, comparison.not_finite)}"
    )
    cause = diagnose_not_finite(inputs, comparison.not_finite, comparison.expected)
    return "not_finite", message, cause


def _find_wrong(comparison: Comparison, inputs: dict[str, torch.Tensor]) -> Finding | None:
    report, worst = comparison.report, comparison.report.worst
    if worst is None:
        return None
    off = abs(worst.got - worst.expected)
    message = (
        f"{worst.place} is {_number(worst.got)}, expected {_number(worst.expected)}: off by {_number(off)}, "
        f"{_times(worst.over_tolerance)} the tolerance (rtol {comparison.tolerance.rtol:g}, atol "
        f"{comparison.tolerance.atol:g}); {_share(report.wrong_elements, report.total_elements)} elements of "
        f"{report.name} are wrong{_region(comparison, comparison.wrong)}"
    )
    return "wrong_values", message, diagnose(_evidence(comparison, inputs))


def _find_imprecise(comparison: Comparison, inputs: dict[str, torch.Tensor]) -> Finding | None:
    if not comparison.over_cap:
        return None
    report = comparison.report
    message = (
        f"every element of {report.name} is within its own tolerance, but the relative L2 error over all of them is "
        f"{report.relative_l2:.2g}, above the cap of {comparison.tolerance.relative_l2:g}"
    )
    return "relative_error", message, diagnose(_evidence(comparison, inputs))


def _evidence(comparison: Comparison, inputs: dict[str, torch.Tensor]) -> Evidence:
    """What a diagnosis may look at; of a sampled output only the compared elements, as one long axis without a name."""
    got, expected, wrong, axes = comparison.got, comparison.expected, comparison.wrong, comparison.axes
    if comparison.compared is not None:
        got, expected, wrong = (tensor[comparison.compared] for tensor in (got, expected, wrong))
        axes = ()
    return Evidence(comparison.report.name, axes, got.to(torch.float64), expected, wrong, inputs, got.dtype)


def _region(comparison: Comparison, mask: torch.Tensor) -> str:
    one = int(mask.sum()) == 1  # its place is all there is to say
    region = None if one or comparison.compared is not None else describe_region(mask, comparison.axes)
    return f", all with {region}" if region else ""


def _share(count: int, total: int) -> str:
    percent = min(100 * count / total, 100.0 if count == total else 99.9)
    shown = f"{percent:.1f}%" if percent >= 0.1 else "under 0.1%"
    return f"{count} of {total} ({shown})"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return f"{value:.6g}"


def _times(ratio: float) -> str:
    if math.isinf(ratio):
        return "beyond"
    return f"{ratio:.3g} times"
