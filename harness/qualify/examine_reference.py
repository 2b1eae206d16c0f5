"""Examining a reference.py: every distribution at the tests' smallest shape, and every test, drawn and computed.

Nothing is judged: it asks whether the functions run in time, return what task.yml declares, take their random numbers
from the generator, and tell distributions apart. A fault in one case hides none in another. Child process.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeVar

import torch

from harness.errors import SpecError
from harness.qualify.complaints import Complaints, describe_shape
from harness.qualify.steps import ADVICE, LeftOutError, Steps, StoppedError
from harness.qualify.trials import LARGE_ELEMENTS
from harness.replay.inputs import Request, Sample, add_expected, draw_inputs
from harness.replay.poison import same_bits
from harness.replay.reference import Reference, load_reference
from harness.spec import Problem

IMPORT, GENERATE, REFERENCE = "importing it", "generate()", "reference()"

Result = TypeVar("Result")
Shape = tuple[tuple[str, int], ...]
Tensors = tuple[torch.Tensor, ...]


class ReferenceExaminer:
    """One examination.

    Attributes:
        faults: what was found.
        warnings: what an organiser would rather know.
    """

    def __init__(self, problem: Problem, steps: Steps, faults: Complaints, warnings: list[str]) -> None:
        """Begin.

        Args:
            problem: the problem.
            steps: runs what is the organiser's.
            faults: where what is found is added.
            warnings: the same, for what an organiser would rather know.
        """
        self._problem, self._steps = problem, steps
        self.faults, self.warnings = faults, warnings
        self._path = (problem.folder / "reference.py").resolve()
        self._undrawn: set[str] = set()

    def run(self) -> Sample | None:
        """Examine the file; return the smallest sample of the default distribution, None if there is none."""
        self._steps.expect(1)
        reference = self._try(IMPORT, None, partial(load_reference, self._problem))
        if reference is None:
            return None
        requests = _choose_requests(self._problem)
        self._steps.expect(2 * (len(requests) + len(self._problem.distribution_names)))
        smallest = self._make_sample(reference, requests[0])
        for request in requests[1:]:
            self._make_sample(reference, request)
        self._compare_draws(reference, _usual_shape(self._problem))
        self.warnings += _untried(self._problem, self._path.with_name("task.yml").as_posix())
        for function, count in self._steps.left_out.items():
            cases = f"{count} more case{'s' * (count > 1)}"
            self.warnings.append(f"{self._path}: {function} was not run in {cases}: mend this first")
        return smallest

    def _try(self, function: str, request: Request | None, work: Callable[[], Result]) -> Result | None:
        """Run one step; a fault is added, and nothing returned."""
        detail = f"distribution {request.distribution}, {describe_shape(request)}" if request else ""
        try:
            return self._steps.run(self._path, function, work, detail)
        except SpecError as error:
            self.faults.add(str(error), request)
        except StoppedError as error:
            self.faults.add(f"{error}; {ADVICE}", request)
        except LeftOutError:
            pass
        return None

    def _make_sample(self, reference: Reference, request: Request) -> Sample | None:
        inputs = self._try(GENERATE, request, partial(draw_inputs, reference, request))
        if inputs is None:
            self._undrawn.add(request.distribution)
            return None
        return self._try(REFERENCE, request, partial(add_expected, reference, request, inputs))

    def _compare_draws(self, reference: Reference, shape: Shape) -> None:
        """Draw each distribution twice from one seed, and hold the draws against each other."""
        draws: dict[str, Tensors] = {}
        for name in (name for name in self._problem.distribution_names if name not in self._undrawn):
            request = Request(shape, name, seed=0)
            first, second = (self._try(GENERATE, request, partial(_draw, reference, request)) for _ in range(2))
            if first is None or second is None:
                continue
            draws[name] = first
            if not _same(first, second):
                told = "generate() draws other inputs each time that it has the same generator"
                wanted = "take every random number from it, so that a seed makes a sample"
                self.faults.add(f"{self._path}: {told}: {wanted}", request)
        self.warnings += _alike(self._problem, self._path.as_posix(), draws)


def _choose_requests(problem: Problem) -> list[Request]:
    """Every distribution at the smallest shape of the tests, the default first, then the tests, the smaller first."""
    shapes = sorted(_test_shapes(problem), key=lambda shape: _elements(problem, shape))
    names = sorted(problem.distribution_names, key=lambda name: name != problem.default_distribution)
    chosen = [Request(shapes[0], name, seed=0) for name in names]
    for shape in shapes:
        if _elements(problem, shape) <= LARGE_ELEMENTS:
            used = [
                entry.get("distribution", names[0]) for entry in problem.tests if _shape_of(problem, entry) == shape
            ]
            chosen += [Request(shape, str(name), seed=0) for name in used]
    return list(dict.fromkeys(chosen))


def _untried(problem: Problem, path: str) -> list[str]:
    """Tell of tests that are too large to be tried, but for the smallest of all."""
    shapes = sorted(_test_shapes(problem), key=lambda shape: _elements(problem, shape))[1:]
    return [
        f"{path}: the test {describe_shape(Request(shape, '', seed=0))} has {_elements(problem, shape):,} numbers: too "
        f"many to be tried here ({LARGE_ELEMENTS:,} at most), and each submission is checked on them all: make it "
        f"smaller"
        for shape in shapes
        if _elements(problem, shape) > LARGE_ELEMENTS
    ]


def _shape_of(problem: Problem, entry: Mapping[str, int | str]) -> Shape:
    return tuple((axis, int(entry[axis])) for axis in problem.axes)


def _test_shapes(problem: Problem) -> list[Shape]:
    return list(dict.fromkeys(_shape_of(problem, entry) for entry in problem.tests))


def _elements(problem: Problem, shape: Shape) -> int:
    sizes = dict(shape)
    return sum(math.prod(size) for size in (*problem.input_sizes(sizes), *problem.output_sizes(sizes)))


def _usual_shape(problem: Problem) -> Shape:
    """The test shape that most distributions use: what sets them apart shows there."""
    return Counter(_shape_of(problem, entry) for entry in problem.tests).most_common(1)[0][0]


def _draw(reference: Reference, request: Request) -> Tensors:
    return reference.make_inputs(request.sizes, request.distribution, torch.Generator().manual_seed(0))


def _alike(problem: Problem, path: str, draws: Mapping[str, Tensors]) -> Iterator[str]:
    """Distributions of the tests that are the same one, as when a name is not asked for."""
    tested = [str(entry.get("distribution", problem.default_distribution)) for entry in problem.tests]
    names = [name for name in dict.fromkeys(tested) if name in draws]
    for number, name in enumerate(names):
        same = next((other for other in names[:number] if _same(draws[name], draws[other])), None)
        if same is not None:
            yield f"{path}: generate() draws the same inputs for {name} as for {same}"


def _same(left: Tensors, right: Tensors) -> bool:
    return all(bool(same_bits(a, b).all()) for a, b in zip(left, right, strict=True))
