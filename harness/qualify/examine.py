"""The examining process: every fault of a problem's Python at once, each distribution and each candidate tried once.

usage: python -m harness.qualify.examine PROBLEM_DIR

Unlike qualification it judges nothing: it asks whether the functions run and return what task.yml declares.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import SpecError
from harness.qualify.candidates import Roster, load_roster
from harness.qualify.reporting import report
from harness.replay.inputs import Request, Sample, make_sample
from harness.replay.reference import load_reference
from harness.spec import Problem, load_problem

ENOUGH_MUTANTS = 10


def main(arguments: list[str]) -> int:
    """Examine the problem of a folder."""
    return report(lambda send: _examine(load_problem(Path(arguments[0]))))


def _examine(problem: Problem) -> dict[str, Any]:
    faults: list[str] = []
    samples = _try_reference(problem, faults)
    roster = _try_mutants(problem, samples.get(problem.default_distribution), faults)
    warnings = list(_weaknesses(roster)) if roster is not None else []
    return {"faults": list(dict.fromkeys(faults)), "warnings": warnings}


def _try_reference(problem: Problem, faults: list[str]) -> dict[str, Sample]:
    """Return a sample of every distribution at the smallest test shape, as far as they can be made."""
    samples: dict[str, Sample] = {}
    try:
        reference = load_reference(problem)
    except SpecError as error:
        faults.append(str(error))
        return samples
    for distribution in problem.distribution_names:
        try:
            samples[distribution] = make_sample(reference, Request(_smallest(problem), distribution, seed=0))
        except SpecError as error:
            faults.append(f"{error} (distribution {distribution})")
    return samples


def _smallest(problem: Problem) -> tuple[tuple[str, int], ...]:
    shapes = [tuple((axis, int(entry[axis])) for axis in problem.axes) for entry in problem.tests]
    return min(shapes, key=lambda shape: sum(math.prod(sizes) for sizes in problem.input_sizes(dict(shape))))


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


def _weaknesses(roster: Roster) -> Iterator[str]:
    path = roster.problem.folder / "mutants.py"
    mutants = [candidate for candidate in roster.candidates if candidate.mutant]
    if len(mutants) < ENOUGH_MUTANTS:
        yield f"{path}: {len(mutants)} mutants; a problem that is no exercise has {ENOUGH_MUTANTS} or more"
    for candidate in mutants:
        if not candidate.mistake:
            yield f"{path}: mutant {candidate.name} has no docstring that says its mistake"
    if not any(candidate.drops for candidate in mutants):
        yield f"{path}: no mutant drops a term of the formula (MUTANTS.drops), so no term is known to count"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
