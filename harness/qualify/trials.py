"""Trying candidates on the cases of a suite, judged as submissions are. Runs in the child process.

Each candidate gets the inputs that a submission would, buffers included, and `rule` compares what it returns. Mutants
get two inputs per case, so that one which repeats its first answer shows; honest variants get as many as are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from harness.case import Case, load_cases
from harness.qualify.candidates import Roster
from harness.qualify.influence import measure_influence
from harness.qualify.measurements import EITHER, Candidate, OutputRange, SuiteMeasurements, Trial
from harness.replay.inputs import Received, Request, Sample, make_sample
from harness.replay.judgement import Judgement
from harness.replay.reference import Reference
from harness.replay.ruling import rule
from harness.spec import Problem

MUTANT_SEEDS = 2
LARGE_ELEMENTS = 4_000_000  # of all inputs and outputs: above, mutants are left out and honest variants run once
ROLES = ("test", "benchmark")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Workbench:
    """What a qualification works with.

    Attributes:
        roster: what is tried.
        reference: the problem's reference, any value allowed.
        not_finite: the outputs whose reference may hold NaN or infinity.
        seeds: how many inputs per case honest variants get.
        tell: is told what is tried next.
    """

    roster: Roster
    reference: Reference
    not_finite: frozenset[str]
    seeds: int
    tell: Tell

    @classmethod
    def make(cls, roster: Roster, reference: Reference, seeds: int, tell: Tell) -> Workbench:
        """Return a workbench on which a reference that is not finite is measured instead of raised."""
        names = frozenset(spec.name for spec in reference.problem.outputs)
        return cls(roster, replace(reference, not_finite=names), reference.not_finite, seeds, tell)

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.roster.problem


def measure_suite(bench: Workbench, suite: str, roles: Sequence[str] = ROLES) -> SuiteMeasurements:
    """Try every candidate on every case of a suite, and measure what depends on what.

    Args:
        bench: what to work with.
        suite: the suite's name.
        roles: which cases to try: tests, benchmarks or both.

    Raises:
        SpecError: reference.py or mutants.py is at fault.
    """
    cases = tuple(case for case in load_cases(bench.problem, suite) if case.role in roles)
    trials: list[Trial] = []
    ranges: list[OutputRange] = []
    for case in cases:
        bench.tell(f"{suite}: {case.id}")
        made, held = _try_case(bench, case)
        trials += made
        ranges += held
    bench.tell(f"{suite}: what depends on what")
    finite = not any(found.not_finite for found in ranges)
    return SuiteMeasurements(
        suite,
        ranks=suite not in bench.problem.suites or not bench.problem.suites[suite].gameable,
        trials=tuple(trials),
        ranges=tuple(ranges),
        silences=measure_influence(bench.reference, bench.roster, cases) if finite else (),
        without_mutants=tuple(case.id for case in cases if _is_large(bench.problem, case)),
    )


def count_steps(problem: Problem, suite: str) -> int:
    """Return how often `measure_suite` tells of something."""
    return len(load_cases(problem, suite)) + 1


def _try_case(bench: Workbench, case: Case) -> tuple[list[Trial], list[OutputRange]]:
    """Try all candidates on one case; nothing is tried where the reference itself is at fault."""
    large = _is_large(bench.problem, case)
    seeds = 1 if large else max(bench.seeds, MUTANT_SEEDS)
    trials: dict[str, Trial] = {}
    ranges: list[OutputRange] = []
    for seed in range(seeds):
        sample = make_sample(bench.reference, Request(case.shape, case.distribution, seed))
        found = list(_ranges(bench, case, sample))
        ranges += found
        if any(held.not_finite for held in found):
            break
        for candidate in bench.roster.candidates:
            if (large or seed >= MUTANT_SEEDS) and (candidate.mutant or candidate.expected == EITHER):
                continue
            judgement = _judge(bench, candidate, sample)
            trials[candidate.name] = _add(trials.get(candidate.name), case, candidate, judgement, bench.problem)
    return list(trials.values()), ranges


def _judge(bench: Workbench, candidate: Candidate, sample: Sample) -> Judgement:
    outputs = bench.roster.call(candidate.name, sample)
    kept = {number: tensor for number, tensor in enumerate(sample.inputs) if not bench.problem.inputs[number].buffer}
    return rule(bench.problem, sample, Received(outputs, kept), bench.not_finite)


def _add(before: Trial | None, case: Case, candidate: Candidate, judgement: Judgement, problem: Problem) -> Trial:
    trial = before or Trial(case.id, case.distribution, candidate.name, seeds=0, refused=0, error=0.0)
    return replace(
        trial,
        seeds=trial.seeds + 1,
        refused=trial.refused + (not judgement.passed),
        error=max(trial.error, _error(judgement, problem)),
        reason=trial.reason or judgement.reason,
    )


def _error(judgement: Judgement, problem: Problem) -> float:
    """The largest error of any output in units of its tolerance, elementwise or by the relative L2 norm."""
    largest = 0.0
    for report in judgement.outputs:
        cap = problem.tolerance_of(report.name).relative_l2
        relative = report.relative_l2 / cap if cap is not None and report.relative_l2 is not None else 0.0
        unfinished = math.inf if report.not_finite_elements else 0.0
        largest = max(largest, report.worst_over_tolerance, relative, unfinished)
    return largest


def _ranges(bench: Workbench, case: Case, sample: Sample) -> Iterator[OutputRange]:
    for spec, tensor in zip(bench.problem.outputs, sample.expected, strict=True):
        allowed = spec.name in bench.not_finite
        yield OutputRange(
            case.id,
            case.distribution,
            spec.name,
            constant=bool(tensor.min() == tensor.max()),
            not_finite=0 if allowed else int((~torch.isfinite(tensor)).sum()),
        )


def _is_large(problem: Problem, case: Case) -> bool:
    sizes = (*problem.input_sizes(case.sizes), *problem.output_sizes(case.sizes))
    return sum(math.prod(shape) for shape in sizes) > LARGE_ELEMENTS
