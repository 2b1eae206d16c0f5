"""The judge's fast path: is a call right, yes or no, with one look at the GPU's answer.

The bounds of `compare`, but for the rounding of a float64, computed without a report and in few passes over memory,
which is what it costs. A "no" is not a judgement: the caller asks `ruling` then, whose word counts.
"""

from __future__ import annotations

import torch

from harness.replay.asked import Problem
from harness.replay.compare import bytes_of_bools
from harness.replay.inputs import Sample

_MIXED = frozenset({torch.float64, torch.float32, torch.float16, torch.bfloat16})
_EIGHT_BITS = frozenset({torch.float8_e4m3fn, torch.float8_e5m2})  # each of their values is a float16's, too


def accepts(problem: Problem, sample: Sample, outputs: tuple[torch.Tensor, ...]) -> bool:
    """Tell whether every output is within its tolerance; see `within_tolerance`."""
    return bool(within_tolerance(problem, sample, outputs))


def within_tolerance(problem: Problem, sample: Sample, outputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return, on the device, whether every output is right, element by element and in the relative L2 error.

    Args:
        problem: names and tolerances.
        sample: what is expected, float64.
        outputs: what came back, on the same device.
    """
    verdicts = []
    for spec, got, expected in zip(problem.outputs, outputs, sample.expected, strict=True):
        tolerance = problem.tolerance_of(spec.name)
        error, size = _difference(expected, got).abs_(), expected.abs()
        if size.numel():
            # NaN, and so false, where either is NaN or what is expected is infinite.
            excess = torch.add(error, size, alpha=-tolerance.rtol, out=size)
            verdicts.append(excess.amax() <= tolerance.atol)
        if tolerance.relative_l2 is not None:
            norms = torch.linalg.vector_norm(error), torch.linalg.vector_norm(expected)
            # Compared as squares would be, and 0 <= 0 where nothing is expected.
            verdicts.append(norms[0] <= tolerance.relative_l2 * norms[1])
    return torch.stack(verdicts).all()


def _difference(expected: torch.Tensor, got: torch.Tensor) -> torch.Tensor:
    """Return expected - got in float64; what torch does not mix with float64 is converted, a pass over memory more."""
    if got.dtype in _EIGHT_BITS:
        got = got.to(torch.float16)
    return expected.sub(got if got.dtype in _MIXED else bytes_of_bools(got).to(torch.float64))
