"""Where a case's tensors lie in the exchange. Imports no torch, so that a runner can be started before torch is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.replay.asked import Problem
from harness.replay.gpu.layout import Part, lay_out


@dataclass(frozen=True)
class CaseLayout:
    """The parts of a case.

    Attributes:
        inputs: on the way in; None for a buffer.
        outputs: on the way out.
        after: the inputs as they are after the call; None for a buffer.
        size: bytes in all.
    """

    inputs: list[Part | None]
    outputs: list[Part]
    after: list[Part | None]
    size: int


def lay_out_case(problem: Problem, shape: Mapping[str, int]) -> CaseLayout:
    """Place the tensors of a shape."""
    sent = [not spec.buffer for spec in problem.inputs]
    sizes = problem.input_sizes(shape)
    forms = [(s.dtype, z) for s, z in zip(problem.inputs, sizes, strict=True) if not s.buffer]
    returned = [(s.dtype, z) for s, z in zip(problem.outputs, problem.output_sizes(shape), strict=True)]
    inputs, end = lay_out(forms)
    outputs, end = lay_out(returned, end)
    after, end = lay_out(forms, end)
    return CaseLayout(_spread(inputs, sent), outputs, _spread(after, sent), end)


def _spread(parts: list[Part], sent: list[bool]) -> list[Part | None]:
    rest = iter(parts)
    return [next(rest) if present else None for present in sent]
