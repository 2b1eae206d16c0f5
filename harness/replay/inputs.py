"""A sample: the inputs of one call, made from a seed, and the values that are expected for them.

The seed, the problem, the shape and the distribution all enter the generator's seed through a hash, so that no two
samples are related. Buffers (tensors that the kernel writes and the harness makes) hold poison. Only the inputs go to a
runner; expected values stay in the judge's memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from harness.errors import UsageError
from harness.replay.poison import poison
from harness.replay.reference import Reference

GENERATORS = ("inputs", "poison")
"""What random numbers are for; each purpose has a generator of its own."""


@dataclass(frozen=True)
class Request:
    """Which sample: a shape, a distribution and a seed."""

    shape: tuple[tuple[str, int], ...]
    distribution: str
    seed: int

    @property
    def sizes(self) -> dict[str, int]:
        """The shape as a mapping."""
        return dict(self.shape)


@dataclass(frozen=True)
class Sample:
    """What one call is given and must return.

    Attributes:
        request: what the sample was made for.
        inputs: every input in order, buffers included, as sent to the runner.
        expected: every output in order, float64.
    """

    request: Request
    inputs: tuple[torch.Tensor, ...]
    expected: tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Received:
    """What came back: outputs in order, inputs after the call by number, and masks of stored elements by output."""

    outputs: tuple[torch.Tensor, ...]
    inputs: dict[int, torch.Tensor]
    stored: dict[int, torch.Tensor] = field(default_factory=dict)


def derive_seed(problem: str, request: Request, purpose: str) -> int:
    """Return a 63-bit seed that depends on everything: problem, shape, distribution, seed and purpose."""
    shape = ",".join(f"{axis}={size}" for axis, size in sorted(request.shape))
    text = "\n".join((purpose, problem, shape, request.distribution, str(request.seed)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def make_sample(reference: Reference, request: Request, device: str = "cpu") -> Sample:
    """Make inputs and expected values.

    Raises:
        UsageError: as `draw_inputs`.
        SpecError: reference.py is at fault.
    """
    return add_expected(reference, request, draw_inputs(reference, request, device))


def draw_inputs(reference: Reference, request: Request, device: str = "cpu") -> tuple[torch.Tensor, ...]:
    """Make the inputs of a sample, buffers included.

    Raises:
        UsageError: the problem has no such distribution, or the shape lacks an axis.
        SpecError: reference.py is at fault.
    """
    problem = reference.problem
    if request.distribution not in problem.distribution_names:
        names = ", ".join(problem.distribution_names)
        raise UsageError(f"{problem.name} has no distribution {request.distribution!r}; it has {names}")
    if set(request.sizes) != set(problem.axes):
        raise UsageError(f"a shape of {problem.name} gives {', '.join(problem.axes)}; not {', '.join(request.sizes)}")
    seeds = {purpose: derive_seed(problem.name, request, purpose) for purpose in GENERATORS}
    generators = {purpose: torch.Generator(device).manual_seed(seed) for purpose, seed in seeds.items()}
    return draw_with(reference, request, generators)


def draw_with(
    reference: Reference, request: Request, generators: Mapping[str, torch.Generator]
) -> tuple[torch.Tensor, ...]:
    """Make the inputs of a sample, buffers included, from generators that are seeded already.

    Raises:
        SpecError: reference.py is at fault.
    """
    problem = reference.problem
    made = reference.make_inputs(request.sizes, request.distribution, generators["inputs"])
    rest = iter(made)
    return tuple(
        poison(shape, getattr(torch, spec.dtype), generators["poison"]) if spec.buffer else next(rest)
        for spec, shape in zip(problem.inputs, problem.input_sizes(request.sizes), strict=True)
    )


def add_expected(reference: Reference, request: Request, inputs: tuple[torch.Tensor, ...]) -> Sample:
    """Add to inputs from `draw_inputs` what a call must return.

    Raises:
        SpecError: reference.py is at fault.
    """
    made = tuple(t for t, spec in zip(inputs, reference.problem.inputs, strict=True) if not spec.buffer)
    return Sample(request, inputs, reference.expect(made, request.sizes))
