"""Trying candidates on the cases of a suite, judged as submissions are. Runs in the child process.

Each candidate gets the inputs that a submission would, buffers included, and `rule` compares what it returns. What need
not be accepted gets two inputs per case, so that a kernel which repeats its first answer shows; honest variants get as
many as are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch

from harness.case import Case
from harness.qualify.arithmetic import LIMITS
from harness.qualify.asked import RANKS, SuiteRequest, main_shape
from harness.qualify.candidates import Roster, declared
from harness.qualify.influence import measure_influence
from harness.qualify.measurements import (
    ACCEPT,
    Candidate,
    Measurements,
    OutputFacts,
    OutputRange,
    Silence,
    SuiteMeasurements,
    Trial,
)
from harness.replay.inputs import Received, Request, Sample, make_sample
from harness.replay.judgement import Judgement, OutputReport
from harness.replay.reference import Reference
from harness.replay.ruling import rule
from harness.spec import Problem

MUTANT_SEEDS = 2
# Of all inputs and outputs together. Above the first, only the two variants at the limit of precision are tried, once.
# Above the second, a case of a suite that does not rank is left to a GPU.
LARGE_ELEMENTS, HUGE_ELEMENTS = 4_000_000, 60_000_000

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
        tried: what became of the cases so far: suites share them.
        silent: what was found silent at a shape, under which distributions.
    """

    roster: Roster
    reference: Reference
    not_finite: frozenset[str]
    seeds: int
    tell: Tell
    tried: dict[Case, tuple[list[Trial], list[OutputRange]]] = field(default_factory=dict)
    silent: dict[object, tuple[Silence, ...]] = field(default_factory=dict)

    @classmethod
    def make(cls, roster: Roster, reference: Reference, seeds: int, tell: Tell) -> Workbench:
        """Return a workbench on which a reference that is not finite is measured instead of raised."""
        names = frozenset(spec.name for spec in reference.problem.outputs)
        return cls(roster, replace(reference, not_finite=names), reference.not_finite, seeds, tell)

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.roster.problem


def measure(bench: Workbench, suites: Sequence[SuiteRequest]) -> Measurements:
    """Try every candidate on every case of some suites, and measure what depends on what.

    Raises:
        SpecError: reference.py or mutants.py is at fault.
    """
    problem = bench.problem
    tolerances = [(spec.name, problem.tolerance_of(spec.name)) for spec in problem.outputs]
    return Measurements(
        problem.name,
        problem.version,
        problem.precision,
        bench.seeds,
        MUTANT_SEEDS,
        outputs=tuple(OutputFacts(name, t.accepted, t.refused) for name, t in tolerances),
        candidates=bench.roster.candidates,
        suites=tuple(_measure_suite(bench, suite) for suite in suites),
    )


def _measure_suite(bench: Workbench, suite: SuiteRequest) -> SuiteMeasurements:
    trials: list[Trial] = []
    ranges: list[OutputRange] = []
    untried = [case for case in suite.cases if suite.standing != RANKS and _is_huge(bench.problem, case)]
    for case in suite.cases:
        bench.tell(f"{suite.name}: {case.id}")
        if case in untried:
            continue
        if case not in bench.tried:
            bench.tried[case] = _try_case(bench, case)
        made, held = bench.tried[case]
        trials += made
        ranges += held
    bench.tell(f"{suite.name}: what depends on what")
    finite = not any(found.not_finite for found in ranges)
    return SuiteMeasurements(
        suite.name,
        suite.standing,
        trials=tuple(trials),
        ranges=tuple(ranges),
        silences=_find_silences(bench, suite.cases) if finite else (),
        without_mutants=tuple(case.id for case in suite.cases if _is_large(bench.problem, case)),
        untried=tuple(case.id for case in untried),
    )


def _find_silences(bench: Workbench, cases: Sequence[Case]) -> tuple[Silence, ...]:
    """Measure what depends on what at the suite's main shape, unless another suite had the same."""
    shape, distributions = main_shape(cases), tuple(dict.fromkeys(case.distribution for case in cases))
    if (shape, distributions) not in bench.silent:
        found = measure_influence(bench.reference, bench.roster, shape, distributions)
        bench.silent[shape, distributions] = found
    return bench.silent[shape, distributions]


def count_steps(suite: SuiteRequest) -> int:
    """Return how often a suite's measurement tells of something."""
    return len(suite.cases) + 1


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
            if large and candidate.name not in (limit and limit.name for limit in LIMITS[bench.problem.precision]):
                continue
            if seed >= MUTANT_SEEDS and candidate.expected != ACCEPT:
                continue
            judgement = _judge(bench, candidate, sample)
            trials[candidate.name] = _add(trials.get(candidate.name), case, candidate, judgement, bench.problem)
    return list(trials.values()), ranges


def _judge(bench: Workbench, candidate: Candidate, sample: Sample) -> Judgement:
    outputs = bench.roster.call(candidate.name, sample)
    kept = {number: tensor for number, tensor in enumerate(sample.inputs) if not bench.problem.inputs[number].buffer}
    return rule(bench.problem, sample, Received(outputs, kept), bench.not_finite)


def _add(before: Trial | None, case: Case, candidate: Candidate, judgement: Judgement, problem: Problem) -> Trial:
    none = (0.0,) * len(problem.outputs)
    trial = before or Trial(case.id, case.distribution, candidate.name, seeds=0, refused=0, error=0.0, by_output=none)
    errors = tuple(map(max, trial.by_output, (_error(report, problem) for report in judgement.outputs)))
    return replace(
        trial,
        seeds=trial.seeds + 1,
        refused=trial.refused + (not judgement.passed),
        error=max(errors),
        by_output=errors,
        reason=trial.reason or judgement.reason,
    )


def _error(report: OutputReport, problem: Problem) -> float:
    """The error of an output in units of its tolerance, the larger of the elementwise and the relative one."""
    cap = problem.tolerance_of(report.name).relative_l2
    relative = report.relative_l2 / cap if cap is not None and report.relative_l2 is not None else 0.0
    unfinished = math.inf if report.not_finite_elements else 0.0
    return max(report.worst_over_tolerance, relative, unfinished)


def _ranges(bench: Workbench, case: Case, sample: Sample) -> Iterator[OutputRange]:
    for spec, tensor in zip(bench.problem.outputs, sample.expected, strict=True):
        allowed = spec.name in bench.not_finite
        varying = tensor[~declared(tensor, bench.roster.fixed.get(spec.name))]
        yield OutputRange(
            case.id,
            case.distribution,
            spec.name,
            constant=bool(varying.numel() and varying.min() == varying.max()),
            not_finite=0 if allowed else int((~torch.isfinite(tensor)).sum()),
        )


def _is_large(problem: Problem, case: Case) -> bool:
    return _count_elements(problem, case) > LARGE_ELEMENTS


def _is_huge(problem: Problem, case: Case) -> bool:
    return _count_elements(problem, case) > HUGE_ELEMENTS


def _count_elements(problem: Problem, case: Case) -> int:
    sizes = (*problem.input_sizes(case.sizes), *problem.output_sizes(case.sizes))
    return sum(math.prod(shape) for shape in sizes)
