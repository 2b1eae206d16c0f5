"""What a diagnosis may look at, and the measures it takes: distances, fits, errors by chunk. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from harness.replay.place import AxisLabel

EXPLAINED = 0.02  # relative L2 error that a hypothesis may leave ...
_GAIN = 0.1  # ... and that as a share of the error without it


@dataclass(frozen=True)
class Evidence:
    """One wrong output.

    Attributes:
        name: the output's name.
        axes: its axes; none for a sampled output, whose elements then come as one list.
        got: float64.
        expected: float64.
        wrong: which elements are wrong.
        inputs: the tensors that the call was given, buffers left out, by name.
        dtype: of the output itself.
    """

    name: str
    axes: tuple[AxisLabel, ...]
    got: torch.Tensor
    expected: torch.Tensor
    wrong: torch.Tensor
    inputs: Mapping[str, torch.Tensor]
    dtype: torch.dtype = torch.float32


def distance(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the relative L2 distance; infinite where there is nothing to relate to."""
    norm = float(torch.linalg.vector_norm(expected))
    return float(torch.linalg.vector_norm(got - expected)) / norm if norm > 0 else math.inf


def explains(evidence: Evidence, hypothesis: torch.Tensor) -> bool:
    """Tell whether a hypothesis about the whole output explains it."""
    return closer(evidence.got, hypothesis, evidence.expected)


def closer(got: torch.Tensor, hypothesis: torch.Tensor, expected: torch.Tensor) -> bool:
    """Tell whether a hypothesis leaves next to nothing of the difference to what is expected."""
    left = distance(got, hypothesis)
    return left < EXPLAINED and left < _GAIN * distance(got, expected)


def fits(values: torch.Tensor, dtype: torch.dtype) -> bool:
    """Tell whether every value is one of a narrower format's."""
    return bool((values == values.to(dtype).to(values.dtype)).all())


def cosine(left: torch.Tensor, right: torch.Tensor) -> float:
    """Return the cosine of the angle between two tensors, 0 where one is zero."""
    norms = float(torch.linalg.vector_norm(left)) * float(torch.linalg.vector_norm(right))
    return float((left * right).sum()) / norms if norms > 0 else 0.0


def centred(difference: torch.Tensor) -> bool:
    """Tell whether the errors average out, as rounding to nearest does, rather than lean to one side."""
    deviation = float(difference.std())
    return deviation > 0 and abs(float(difference.mean())) < 0.1 * deviation


def error_by_chunk(evidence: Evidence, dim: int, axis: AxisLabel) -> list[float]:
    """Return the relative error of each chunk along an axis, 0 where all of it is right; nothing for under 3 chunks."""
    if axis.chunk is None or axis.size < 3 * axis.chunk:
        return []
    parts = (torch.split(tensor, axis.chunk, dim) for tensor in (evidence.got, evidence.expected, evidence.wrong))
    return [
        distance(got, expected) if bool(wrong.any()) and bool(expected.any()) else 0.0
        for got, expected, wrong in zip(*parts, strict=True)
    ]
