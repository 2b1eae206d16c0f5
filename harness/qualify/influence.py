"""What depends on what: whether every input element influences an output, and every output element varies.

Measured on one shape of a suite, under all of the suite's distributions, since an element may count in one of them
only. An input element counts if changing it by its tensor's root mean square moves some output beyond its tolerance, to
first order: one backward pass through the reference gives that for all elements at once, with outputs weighted by
random signs over their tolerances. The weakest of them are changed in earnest, one by one, and the gradient is believed
of those that are stronger than one which moved an output. All others (every one, where the reference has no gradient)
are changed block by block; then a block counts as a whole. An output element counts if it varies between inputs by more
than its tolerance.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import torch

from harness.qualify.asked import Shape
from harness.qualify.candidates import Roster, declared
from harness.qualify.measurements import Silence
from harness.replay.asked import Problem, TensorSpec
from harness.replay.inputs import Request, Sample, make_sample
from harness.replay.place import axis_labels, place
from harness.replay.reference import Reference, Tensors

BLOCKS = 64  # per input tensor and sample
SAMPLES = 12  # over all distributions: fewer would leave outputs equal by chance


def measure_influence(
    reference: Reference, roster: Roster, shape: Shape, distributions: Sequence[str]
) -> tuple[Silence, ...]:
    """Return the elements that do nothing though they should, or something though they should not.

    Raises:
        SpecError: reference.py is at fault.
    """
    seeds = max(2, -(-SAMPLES // len(distributions)))
    requests = [Request(shape, distribution, seed) for distribution in distributions for seed in range(seeds)]
    samples = [make_sample(reference, request) for request in requests]
    problem = roster.problem
    given = [spec for spec in problem.inputs if not spec.buffer]
    unused = [declared(t, roster.unused.get(s.name)) for s, t in zip(given, _given(problem, samples[0]), strict=True)]
    live = _find_live_inputs(reference, samples, unused)
    inputs = zip(given, live, unused, strict=True)
    moving = [_varies(problem, number, samples) for number in range(len(problem.outputs))]
    fixed = [declared(t, roster.fixed.get(s.name)) for s, t in zip(problem.outputs, moving, strict=True)]
    outputs = zip(problem.outputs, moving, fixed, strict=True)
    return (
        *(found for spec, counts, idle in inputs for found in _silences(problem, shape, spec, "input", counts, idle)),
        *(found for spec, counts, idle in outputs for found in _silences(problem, shape, spec, "output", counts, idle)),
    )


def _find_live_inputs(
    reference: Reference, samples: Sequence[Sample], unused: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """For each input that is no buffer, which elements influence an output in any sample."""
    strongest = [torch.zeros(mask.shape, dtype=torch.float64) for mask in unused]
    where = [torch.zeros(mask.shape, dtype=torch.int64) for mask in unused]
    for number, sample in enumerate(samples):
        for known, place_, found in zip(strongest, where, _find_strengths(reference, sample), strict=True):
            place_[found > known] = number
            torch.maximum(known, found, out=known)
    pairs = enumerate(zip(strongest, where, strict=True))
    live = [_confirm(reference, samples, number, strength, at) for number, (strength, at) in pairs]
    for sample in samples:
        if all(bool((known | idle).all()) for known, idle in zip(live, unused, strict=True)):
            break
        for number, (known, idle) in enumerate(zip(live, unused, strict=True)):
            known |= _find_by_change(reference, sample, number, ~known & ~idle)
    return live


def _confirm(
    reference: Reference, samples: Sequence[Sample], number: int, strength: torch.Tensor, where: torch.Tensor
) -> torch.Tensor:
    """Which elements of an input the gradient shows rightly: the weakest that moves an output, and all stronger ones.

    Each is changed by itself, in the sample where it is strongest; the weakest is found by bisection.
    """
    order = strength.flatten().argsort()
    order = order[strength.flatten()[order] > 1]
    silent, moving = -1, len(order)
    middle = 0  # mostly even the weakest moves an output
    while moving - silent > 1:
        position = order[middle]
        if _moves(reference, samples[int(where.flatten()[position])], number, position[None]):
            moving = middle
        else:
            silent = middle
        middle = (silent + moving) // 2
    live = torch.zeros(strength.shape, dtype=torch.bool)
    live.view(-1)[order[moving:]] = True
    return live


def _given(problem: Problem, sample: Sample) -> Tensors:
    return tuple(t for t, spec in zip(sample.inputs, problem.inputs, strict=True) if not spec.buffer)


def _bound(problem: Problem, number: int, expected: torch.Tensor) -> torch.Tensor:
    tolerance = problem.tolerance_of(problem.outputs[number].name)
    return expected.abs() * tolerance.rtol + max(tolerance.atol, torch.finfo(torch.float64).tiny)


def _find_strengths(reference: Reference, sample: Sample) -> Iterator[torch.Tensor]:
    """By how many tolerances each element moves the outputs to first order; 0 where there is no derivative."""
    given = [t.double().requires_grad_() if t.is_floating_point() else t for t in _given(reference.problem, sample)]
    variables = [tensor for tensor in given if tensor.requires_grad]
    found: Sequence[torch.Tensor | None] = [None] * len(variables)
    with contextlib.suppress(RuntimeError):  # work in place on a leaf, or an operation without a derivative
        found = torch.autograd.grad(_weigh(reference, sample, tuple(given)), variables, allow_unused=True)
    gradients = iter(found)
    for tensor in given:
        gradient = next(gradients) if tensor.requires_grad else None
        if gradient is None:
            yield torch.zeros(tensor.shape, dtype=torch.float64)
        else:
            yield gradient.abs() * tensor.detach().square().mean().sqrt()


def _weigh(reference: Reference, sample: Sample, inputs: Tensors) -> torch.Tensor:
    """Sum up all outputs with random signs, in units of their tolerances."""
    generator = torch.Generator().manual_seed(sample.request.seed)
    total = torch.zeros((), dtype=torch.float64)
    for number, output in enumerate(reference.reference(inputs, sample.request.sizes)):
        signs = torch.randint(0, 2, output.shape, generator=generator, dtype=torch.float64) * 2 - 1
        total = total + (output * signs / _bound(reference.problem, number, output.detach())).sum()
    return total


def _find_by_change(reference: Reference, sample: Sample, number: int, silent: torch.Tensor) -> torch.Tensor:
    """Which blocks of an input's silent elements move an output when they are changed."""
    found = torch.zeros_like(silent)
    positions = silent.flatten().nonzero().flatten()
    if len(positions) and _moves(reference, sample, number, positions):
        for block in positions.tensor_split(min(BLOCKS, len(positions))):
            if _moves(reference, sample, number, block):
                found.view(-1)[block] = True
    return found


def _moves(reference: Reference, sample: Sample, number: int, block: torch.Tensor) -> bool:
    problem = reference.problem
    changed = [tensor.clone() for tensor in _given(problem, sample)]
    flat = changed[number].view(-1)
    if flat.is_floating_point():
        flat[block] += flat.double().square().mean().sqrt().to(flat.dtype)
    else:
        flat[block] = flat.roll(1)[block]
    outputs = reference.expect(tuple(changed), sample.request.sizes)
    pairs = enumerate(zip(outputs, sample.expected, strict=True))
    return any(bool(((got - before).abs() > _bound(problem, n, before)).any()) for n, (got, before) in pairs)


def _varies(problem: Problem, number: int, samples: Sequence[Sample]) -> torch.Tensor:
    """Which elements of an output differ between samples by more than their tolerance."""
    values = torch.stack([sample.expected[number] for sample in samples])
    lowest, highest = values.amin(0), values.amax(0)
    return highest - lowest > _bound(problem, number, torch.maximum(lowest.abs(), highest.abs()))


def _silences(
    problem: Problem,
    shape: Shape,
    spec: TensorSpec,
    kind: str,
    counts: torch.Tensor,
    excused: torch.Tensor,
) -> Iterator[Silence]:
    """What is silent and not declared so, and what is declared so and is not silent."""
    for name, wrong in ((kind, ~counts & ~excused), ("declared", counts & excused)):
        if bool(wrong.any()):
            index = tuple(int(i) for i in wrong.nonzero()[0])
            first = place(spec.name, axis_labels(problem, spec, dict(shape)), index)
            sizes = "_".join(f"{axis}{size}" for axis, size in shape)
            yield Silence(spec.name, name, sizes, int(wrong.sum()), wrong.numel(), first)
