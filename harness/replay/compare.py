"""Comparing outputs with the reference, in float64, element by element. Pure: tensors in, numbers and masks out.

An element is right if |got - expected| <= atol + rtol |expected|. On top of that the relative L2 error of an output
may be capped, which tells lower precision from rounding. NaN and infinity are wrong wherever the reference has none; an
output that the reference declares may hold them must hold the same ones. What follows from the numbers is `ruling`'s
business, why something went wrong `diagnosis`'s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from harness.replay.judgement import Element, OutputReport
from harness.replay.place import AxisLabel, place
from harness.replay.poison import is_poison, same_bits
from harness.spec import Tolerance

EXAMPLES = 5


@dataclass(frozen=True)
class Comparison:
    """One output against its reference.

    Attributes:
        report: the numbers.
        axes: its axes.
        tolerance: what it was held against.
        got: as received.
        expected: float64.
        wrong: which elements are wrong.
        not_finite: which of them are NaN or infinite where the reference is not.
        unwritten: which of them still hold poison.
        compared: which elements count; None for all.
    """

    report: OutputReport
    axes: tuple[AxisLabel, ...]
    tolerance: Tolerance
    got: torch.Tensor
    expected: torch.Tensor
    wrong: torch.Tensor
    not_finite: torch.Tensor
    unwritten: torch.Tensor
    compared: torch.Tensor | None

    @property
    def over_cap(self) -> bool:
        """Whether the relative L2 error is above its cap."""
        cap, error = self.tolerance.relative_l2, self.report.relative_l2
        return cap is not None and error is not None and error > cap


def compare_output(
    got: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance,
    *,
    name: str,
    axes: tuple[AxisLabel, ...],
    compared: torch.Tensor | None = None,
    not_finite_allowed: bool = False,
    before: torch.Tensor | None = None,
) -> Comparison:
    """Compare one output with its reference.

    Args:
        got: the output, in its own dtype.
        expected: the reference, float64, of the same shape.
        tolerance: the bounds.
        name: the output's name.
        axes: the output's axes.
        compared: which elements count, all where None.
        not_finite_allowed: whether the reference may hold NaN or infinity, which then must agree.
        before: what the memory held before the call, where the output is a buffer of ours.
    """
    value = got.to(torch.float64)
    error = (value - expected).abs_()
    bound = expected.abs().mul_(tolerance.rtol).add_(tolerance.atol)
    wrong = ~(error <= bound)
    not_finite = ~torch.isfinite(value)
    if not_finite_allowed:
        wrong &= ~((value == expected) | (torch.isnan(value) & torch.isnan(expected)))
        not_finite &= torch.isfinite(expected)
    if compared is not None:
        wrong &= compared
        not_finite &= compared
    unwritten = wrong & is_poison(got)
    if before is not None:
        unwritten |= _left_as_it_was(got, before, wrong)
    ratio = torch.where(error == 0, 0.0, error / bound)
    max_abs, max_rel, relative_l2, worst_ratio = _measure(error, expected, ratio, compared)
    examples = _pick(name, axes, wrong, value, expected, ratio)
    report = OutputReport(
        name=name,
        max_abs=max_abs,
        max_rel=max_rel,
        relative_l2=relative_l2,
        worst_over_tolerance=worst_ratio,
        wrong_elements=int(wrong.sum()),
        not_finite_elements=int(not_finite.sum()),
        total_elements=got.numel() if compared is None else int(compared.sum()),
        worst=examples[0] if examples else None,
        first_wrong=examples[1] if examples else None,
        examples=examples[1:],
    )
    return Comparison(report, axes, tolerance, got, expected, wrong, not_finite, unwritten, compared)


def _left_as_it_was(got: torch.Tensor, before: torch.Tensor, wrong: torch.Tensor) -> torch.Tensor:
    """Elements of a buffer with the bits it was sent with, if there are too many of them for chance."""
    same = wrong & same_bits(got, before.to(got.device))
    return same if 4 * int(same.sum()) > int(wrong.sum()) else torch.zeros_like(same)


def _measure(
    error: torch.Tensor, expected: torch.Tensor, ratio: torch.Tensor, compared: torch.Tensor | None
) -> tuple[float, float, float | None, float]:
    """Return the largest absolute and relative error, the relative L2 error, the largest share of the tolerance."""
    if compared is not None:
        error, expected, ratio = error[compared], expected[compared], ratio[compared]
    finite = torch.isfinite(error)
    all_finite = bool(finite.all())
    if not all_finite:
        error, expected = error[finite], expected[finite]
    norm = float(torch.linalg.vector_norm(expected))
    magnitude = expected.abs()
    relative = torch.where(magnitude > 0, error / magnitude, 0.0)
    relative_l2 = float(torch.linalg.vector_norm(error)) / norm if all_finite and norm > 0 else None
    return _largest(error), _largest(relative), relative_l2, _largest(ratio) if all_finite else math.inf


def _largest(values: torch.Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0


def _pick(
    name: str,
    axes: tuple[AxisLabel, ...],
    wrong: torch.Tensor,
    value: torch.Tensor,
    expected: torch.Tensor,
    ratio: torch.Tensor,
) -> tuple[Element, ...]:
    """Return the worst wrong element, then a few from the first on, spread evenly over the wrong ones."""
    flat = wrong.flatten().nonzero().flatten()
    if not len(flat):
        return ()
    over = ratio.flatten().nan_to_num(nan=math.inf, posinf=math.inf)
    steps = torch.linspace(0, len(flat) - 1, min(EXAMPLES, len(flat))).long()
    worst = int(flat[over[flat].argmax()])

    def element(position: int) -> Element:
        index = tuple(int(i) for i in torch.unravel_index(torch.tensor(position), wrong.shape))
        got, wanted = float(value.flatten()[position]), float(expected.flatten()[position])
        return Element(index, place(name, axes, index), got, wanted, float(over[position]))

    return (element(worst), *(element(int(flat[step])) for step in steps))
