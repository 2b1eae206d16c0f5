"""What depends on what: whether every input element influences an output, and every output element varies.

Measured on one shape of a suite, under all of the suite's distributions, since an element may count in one of them
only. An input element counts if changing it by its tensor's root mean square moves some output beyond its tolerance, to
first order: one backward pass through the reference gives that for all elements at once, with outputs weighted by
random signs over their tolerances. What the gradient does not show (or all, where the reference has none) is changed in
earnest, block by block; then a block counts as a whole. An output element counts if it varies between inputs by more
than its tolerance.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence

import torch

from harness.case import Case
from harness.qualify.candidates import Index, Roster
from harness.qualify.measurements import Silence
from harness.replay.asked import Problem, TensorSpec
from harness.replay.inputs import Request, Sample, make_sample
from harness.replay.place import axis_labels, place
from harness.replay.reference import Reference, Tensors

BLOCKS = 64  # per input tensor and sample
SAMPLES = 12  # over all distributions: fewer would leave outputs equal by chance


def measure_influence(reference: Reference, roster: Roster, cases: Sequence[Case]) -> tuple[Silence, ...]:
    """Return the elements that do nothing though they should, or something though they should not.

    Raises:
        SpecError: reference.py is at fault.
    """
    shape = _choose_shape(cases)
    distributions = dict.fromkeys(case.distribution for case in cases)
    seeds = max(2, -(-SAMPLES // len(distributions)))
    requests = [Request(shape, distribution, seed) for distribution in distributions for seed in range(seeds)]
    samples = [make_sample(reference, request) for request in requests]
    problem = roster.problem
    given = [spec for spec in problem.inputs if not spec.buffer]
    unused = [_declared(t, roster.unused.get(s.name)) for s, t in zip(given, _given(problem, samples[0]), strict=True)]
    live = _find_live_inputs(reference, samples, unused)
    inputs = zip(given, live, unused, strict=True)
    moving = [_varies(problem, number, samples) for number in range(len(problem.outputs))]
    fixed = [_declared(t, roster.fixed.get(s.name)) for s, t in zip(problem.outputs, moving, strict=True)]
    outputs = zip(problem.outputs, moving, fixed, strict=True)
    return (
        *(found for spec, counts, idle in inputs for found in _silences(problem, shape, spec, "input", counts, idle)),
        *(found for spec, counts, idle in outputs for found in _silences(problem, shape, spec, "output", counts, idle)),
    )


def _choose_shape(cases: Sequence[Case]) -> tuple[tuple[str, int], ...]:
    """The test shape that most distributions use; of several, the last in the list."""
    tests = [case for case in cases if case.role == "test"] or list(cases)
    counts = Counter(case.shape for case in tests)
    most = max(counts.values())
    return [shape for shape, count in counts.items() if count == most][-1]


def _declared(tensor: torch.Tensor, index: Index | None) -> torch.Tensor:
    """The elements that mutants.py declares to be of no account, as a mask."""
    mask = torch.zeros(tensor.shape, dtype=torch.bool)
    if index is not None:
        mask[index] = True
    return mask


def _find_live_inputs(
    reference: Reference, samples: Sequence[Sample], unused: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """For each input that is no buffer, which elements influence an output in any sample."""
    live = [torch.zeros_like(mask) for mask in unused]
    for sample in samples:
        for known, found in zip(live, _find_by_gradient(reference, sample), strict=True):
            known |= found
    for sample in samples:
        if all(bool((known | idle).all()) for known, idle in zip(live, unused, strict=True)):
            break
        for number, (known, idle) in enumerate(zip(live, unused, strict=True)):
            known |= _find_by_change(reference, sample, number, ~known & ~idle)
    return live


def _given(problem: Problem, sample: Sample) -> Tensors:
    return tuple(t for t, spec in zip(sample.inputs, problem.inputs, strict=True) if not spec.buffer)


def _bound(problem: Problem, number: int, expected: torch.Tensor) -> torch.Tensor:
    tolerance = problem.tolerance_of(problem.outputs[number].name)
    return expected.abs() * tolerance.rtol + max(tolerance.atol, torch.finfo(torch.float64).tiny)


def _find_by_gradient(reference: Reference, sample: Sample) -> Iterator[torch.Tensor]:
    """Which elements move an output to first order; none where the reference cannot be differentiated."""
    given = [t.double().requires_grad_() if t.is_floating_point() else t for t in _given(reference.problem, sample)]
    variables = [tensor for tensor in given if tensor.requires_grad]
    found: Sequence[torch.Tensor | None] = [None] * len(variables)
    with contextlib.suppress(RuntimeError):  # work in place on a leaf, or an operation without a derivative
        found = torch.autograd.grad(_weigh(reference, sample, tuple(given)), variables, allow_unused=True)
    gradients = iter(found)
    for tensor in given:
        gradient = next(gradients) if tensor.requires_grad else None
        if gradient is None:
            yield torch.zeros(tensor.shape, dtype=torch.bool)
        else:
            yield gradient.abs() * tensor.detach().square().mean().sqrt() > 1


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
    shape: tuple[tuple[str, int], ...],
    spec: TensorSpec,
    kind: str,
    counts: torch.Tensor,
    declared: torch.Tensor,
) -> Iterator[Silence]:
    """What is silent and not declared so, and what is declared so and is not silent."""
    for name, wrong in ((kind, ~counts & ~declared), ("declared", counts & declared)):
        if bool(wrong.any()):
            index = tuple(int(i) for i in wrong.nonzero()[0])
            first = place(spec.name, axis_labels(problem, spec, dict(shape)), index)
            sizes = "_".join(f"{axis}{size}" for axis, size in shape)
            yield Silence(spec.name, name, sizes, int(wrong.sum()), wrong.numel(), first)
