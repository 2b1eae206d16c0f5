"""The examining process: every fault of a problem's Python at once, each distribution and each candidate tried once.

usage: python -m harness.qualify.examine PROBLEM_DIR LIMIT_S FILE...

FILE is reference.py, mutants.py, or both: what is to be run. Unlike qualification it judges nothing: it asks whether
the functions run and return what task.yml declares. A task.yml may be at fault where that is not concerned. Each step
is told before it runs, with what was found so far: the parent has that even of a process that had to be killed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.errors import SpecError
from harness.qualify.candidates import Roster, load_roster
from harness.qualify.complaints import Complaints
from harness.qualify.examine_reference import IMPORT, ReferenceExaminer
from harness.qualify.reporting import Send, report
from harness.qualify.steps import ADVICE, LeftOutError, Steps, StoppedError
from harness.replay.inputs import Sample
from harness.spec import Problem
from harness.spec.salvage import salvage_problem
from harness.store.codec import encode

ENOUGH_MUTANTS = 10
FEWEST_MUTANTS = 5  # of an exercise
CANDIDATES = "what compute() and MUTANTS hold"


def main(arguments: list[str]) -> int:
    """Examine the problem of a folder."""
    folder, limit_s, *files = arguments
    return report(lambda send: examine(salvage_problem(Path(folder)).problem, files, send, int(limit_s)))


def examine(
    problem: Problem, files: Sequence[str], send: Send = lambda message: None, limit_s: int | None = None
) -> dict[str, Any]:
    """Run a problem's Python, and return what is wrong: {"faults": [...], "warnings": [...], "candidates": [...]}.

    Args:
        problem: the problem.
        files: what to run of it.
        send: is given {"step": ..., "total": n, "found": as returned, so far} before each step.
        limit_s: what a step may take; for ever where None.
    """
    faults, warnings = Complaints(), list[str]()
    roster: Roster | None = None

    def found() -> dict[str, Any]:
        candidates = [encode(candidate) for candidate in roster.candidates] if roster else []
        return {"faults": faults.told(), "warnings": list(warnings), "candidates": candidates}

    steps = Steps(lambda step, total: send({"step": step, "total": total, "found": found()}), limit_s)
    sample = ReferenceExaminer(problem, steps, faults, warnings).run() if "reference.py" in files else None
    if "mutants.py" in files:
        roster = _load_mutants(problem, steps, faults)
    if roster is not None:
        if sample is not None:
            _try_candidates(roster, sample, steps, faults)
        for fault in _shortage(roster):
            faults.add(fault)
        warnings += _weaknesses(roster)
    return found()


def _load_mutants(problem: Problem, steps: Steps, faults: Complaints) -> Roster | None:
    path = (problem.folder / "mutants.py").resolve()
    steps.expect(1)
    try:
        return steps.run(path, IMPORT, partial(load_roster, problem))
    except SpecError as error:
        faults.add(str(error))
    except StoppedError as error:
        faults.add(f"{error}; mend a loop that does not end")
    return None


def _try_candidates(roster: Roster, sample: Sample, steps: Steps, faults: Complaints) -> None:
    """Call each candidate once."""
    path = (roster.problem.folder / "mutants.py").resolve()
    steps.expect(len(roster.candidates))
    for candidate in roster.candidates:
        try:
            steps.run(path, candidate.name, partial(roster.call, candidate.name, sample), group=CANDIDATES)
        except SpecError as error:
            faults.add(str(error))
        except StoppedError as error:
            faults.add(f"{error}; {ADVICE}")
        except LeftOutError:
            faults.add(f"{path}: the candidates after those two were not run: mend these first")


def _shortage(roster: Roster) -> Iterator[str]:
    mutants = sum(candidate.mutant for candidate in roster.candidates)
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
