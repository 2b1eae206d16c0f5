"""The judge's fast path: is a call right, yes or no, with one look at the GPU's answer.

The bounds of `compare`, but for the rounding of a float64, computed without a report and in few passes over memory,
which is what it costs. A "no" is not a judgement: the caller asks `ruling` then, whose word counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from harness.replay.asked import Problem
from harness.replay.compare import bytes_of_bools
from harness.replay.inputs import Received, Sample
from harness.replay.poison import same_bits

_MIXED = frozenset({torch.float64, torch.float32, torch.float16, torch.bfloat16})
_EIGHT_BITS = frozenset({torch.float8_e4m3fn, torch.float8_e5m2})  # each of their values is a float16's, too


def accepts(problem: Problem, sample: Sample, received: Received) -> torch.Tensor:
    """Return, on the device, whether a call was right: every output within its tolerance, no input changed.

    Args:
        problem: names and tolerances.
        sample: what was sent and what is expected, float64.
        received: what came back, on the same device: contiguous tensors.
    """
    return torch.stack([*_within_tolerance(problem, sample, received), *_unchanged(sample, received)]).all()


def _within_tolerance(problem: Problem, sample: Sample, received: Received) -> Iterator[torch.Tensor]:
    """Yield of each output whether it is right: element by element, and in the relative L2 error."""
    for spec, got, expected in zip(problem.outputs, received.outputs, sample.expected, strict=True):
        tolerance = problem.tolerance_of(spec.name)
        error, size = _difference(expected, got).abs_(), expected.abs()
        if size.numel():
            # NaN, and so false, where either is NaN or what is expected is infinite.
            excess = torch.add(error, size, alpha=-tolerance.rtol, out=size)
            yield excess.amax() <= tolerance.atol
        if tolerance.relative_l2 is not None:
            norms = torch.linalg.vector_norm(error), torch.linalg.vector_norm(expected)
            # Compared as squares would be, and 0 <= 0 where nothing is expected.
            yield norms[0] <= tolerance.relative_l2 * norms[1]


def _unchanged(sample: Sample, received: Received) -> Iterator[torch.Tensor]:
    """Yield of each input that came back whether it holds the bits that were sent."""
    for number, after in received.inputs.items():
        yield same_bits(after, sample.inputs[number]).all()


def _difference(expected: torch.Tensor, got: torch.Tensor) -> torch.Tensor:
    """Return expected - got in float64; what torch does not mix with float64 is converted, a pass over memory more."""
    if got.dtype in _EIGHT_BITS:
        got = got.to(torch.float16)
    return expected.sub(got if got.dtype in _MIXED else bytes_of_bools(got).to(torch.float64))
