"""The examining process: every fault of a problem's Python at once, each distribution and each candidate tried once.

usage: python -m harness.qualify.examine PROBLEM_DIR FILE...

FILE is reference.py, mutants.py, or both: what is to be run. Unlike qualification it judges nothing: it asks whether
the functions run and return what task.yml declares. A task.yml may be at fault where that is not concerned.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from harness.errors import SpecError
from harness.qualify.candidates import Roster, load_roster
from harness.qualify.reporting import report
from harness.qualify.trials import LARGE_ELEMENTS
from harness.replay.inputs import Request, Sample, make_sample
from harness.replay.poison import same_bits
from harness.replay.reference import Reference, load_reference
from harness.spec import Problem
from harness.spec.salvage import salvage_problem
from harness.store.codec import encode

ENOUGH_MUTANTS = 10
FEWEST_MUTANTS = 5  # of an exercise

Shape = tuple[tuple[str, int], ...]


def main(arguments: list[str]) -> int:
    """Examine the problem of a folder."""
    folder, *files = arguments
    return report(lambda send: examine(salvage_problem(Path(folder)).problem, files))


def examine(problem: Problem, files: Sequence[str]) -> dict[str, Any]:
    """Run a problem's Python, and return what is wrong: {"faults": [...], "warnings": [...], "candidates": [...]}."""
    faults: list[str] = []
    warnings: list[str] = []
    sample = _try_reference(problem, faults, warnings) if "reference.py" in files else None
    roster = _try_mutants(problem, sample, faults) if "mutants.py" in files else None
    mutants = [candidate for candidate in roster.candidates if candidate.mutant] if roster else []
    if roster is not None:
        faults += _shortage(roster, len(mutants))
        warnings += _weaknesses(roster)
    return {
        "faults": list(dict.fromkeys(faults)),
        "warnings": warnings,
        "candidates": [encode(candidate) for candidate in roster.candidates] if roster else [],
    }


def _try_reference(problem: Problem, faults: list[str], warnings: list[str]) -> Sample | None:
    """Draw every distribution at one shape and the default one at all tests'; return the smallest sample, if any."""
    try:
        reference = load_reference(problem)
    except SpecError as error:
        faults.append(str(error))
        return None
    shapes = sorted(_test_shapes(problem), key=lambda shape: _elements(problem, shape))
    smallest, default = shapes[0], problem.default_distribution
    found = {d: _try_sample(reference, Request(smallest, d, seed=0), faults) for d in problem.distribution_names}
    for shape in shapes[1:]:
        if found[default] is not None and _elements(problem, shape) <= LARGE_ELEMENTS:
            _try_sample(reference, Request(shape, default, seed=0), faults)
    if all(found.values()):
        usual = _usual_shape(problem)
        draws = {d: _draw(reference, usual, d) for d in problem.distribution_names}
        faults += _unseeded(reference, usual, draws)
        warnings += _alike(problem, reference, draws)
    return found[default]


def _try_sample(reference: Reference, request: Request, faults: list[str]) -> Sample | None:
    try:
        return make_sample(reference, request)
    except SpecError as error:
        sizes = ", ".join(f"{axis}={size}" for axis, size in request.shape)
        faults.append(f"{error} (distribution {request.distribution}, {sizes})")
        return None


def _test_shapes(problem: Problem) -> list[Shape]:
    return list(dict.fromkeys(tuple((a, int(entry[a])) for a in problem.axes) for entry in problem.tests))


def _elements(problem: Problem, shape: Shape) -> int:
    sizes = dict(shape)
    return sum(math.prod(size) for size in (*problem.input_sizes(sizes), *problem.output_sizes(sizes)))


def _usual_shape(problem: Problem) -> Shape:
    """The test shape that most distributions use: what sets them apart shows there."""
    counts = Counter(tuple((a, int(entry[a])) for a in problem.axes) for entry in problem.tests)
    return counts.most_common(1)[0][0]


def _draw(reference: Reference, shape: Shape, distribution: str) -> tuple[torch.Tensor, ...]:
    return reference.make_inputs(dict(shape), distribution, torch.Generator().manual_seed(0))


def _unseeded(reference: Reference, shape: Shape, draws: Mapping[str, tuple[torch.Tensor, ...]]) -> Iterator[str]:
    for distribution, first in draws.items():
        if not _same(first, _draw(reference, shape, distribution)):
            yield (
                f"{reference.path}: generate() draws other inputs for {distribution} each time that it has the same "
                "generator: take every random number from it, so that a seed makes a sample"
            )


def _alike(problem: Problem, reference: Reference, draws: Mapping[str, tuple[torch.Tensor, ...]]) -> Iterator[str]:
    """Distributions of the tests that are the same one, as when a name is not asked for."""
    tested = [str(entry.get("distribution", problem.default_distribution)) for entry in problem.tests]
    names = list(dict.fromkeys(tested))
    for number, name in enumerate(names):
        same = next((other for other in names[:number] if _same(draws[name], draws[other])), None)
        if same is not None:
            yield f"{reference.path}: generate() draws the same inputs for {name} as for {same}"


def _same(left: tuple[torch.Tensor, ...], right: tuple[torch.Tensor, ...]) -> bool:
    return all(bool(same_bits(a, b).all()) for a, b in zip(left, right, strict=True))


def _try_mutants(problem: Problem, sample: Sample | None, faults: list[str]) -> Roster | None:
    """Return the problem's candidates, after calling each once; None where they cannot be loaded."""
    try:
        roster = load_roster(problem)
    except SpecError as error:
        faults.append(str(error))
        return None
    for candidate in roster.candidates if sample is not None else ():
        try:
            assert sample is not None
            roster.call(candidate.name, sample)
        except SpecError as error:
            faults.append(str(error))
    return roster


def _shortage(roster: Roster, mutants: int) -> Iterator[str]:
    if mutants < FEWEST_MUTANTS:
        plural = "" if mutants == 1 else "s"
        told = f"{mutants} mutant{plural}; {FEWEST_MUTANTS} is the least, even for an exercise"
        yield f"{roster.problem.folder / 'mutants.py'}: {told}"


def _weaknesses(roster: Roster) -> Iterator[str]:
    path = roster.problem.folder / "mutants.py"
    mutants = [candidate for candidate in roster.candidates if candidate.mutant]
    if FEWEST_MUTANTS <= len(mutants) < ENOUGH_MUTANTS:
        yield f"{path}: {len(mutants)} mutants; a problem that is no exercise has {ENOUGH_MUTANTS} or more"
    for candidate in mutants:
        if not candidate.mistake:
            yield f"{path}: mutant {candidate.name} has no docstring that says its mistake"
    if not any(candidate.drops for candidate in mutants):
        yield f"{path}: no mutant drops a term of the formula (MUTANTS.drops), so no term is known to count"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
