"""What a problem must show before it opens: from measurements to faults, in words for its organiser. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.qualify.asked import RANKS
from harness.qualify.kernels import KernelTrial, kernel_faults
from harness.qualify.margins import margin_faults
from harness.qualify.measurements import (
    ACCEPT,
    REFUSE,
    Candidate,
    Cell,
    Measurements,
    Silence,
    SuiteMeasurements,
    tabulate,
)

TERM_MARGIN = 10.0  # how many tolerances each term of the formula must be worth somewhere


@dataclass(frozen=True)
class Fault:
    """A condition that a suite does not meet.

    Attributes:
        condition: which: "honest", "precision", "mutant", "term", "reference", "influence", "margin", "kernel".
        subject: the candidate, term or tensor.
        message: what was seen and what to do.
    """

    condition: str
    subject: str
    message: str


@dataclass(frozen=True)
class SuiteResult:
    """A suite with its faults."""

    measured: SuiteMeasurements
    faults: tuple[Fault, ...]

    @property
    def passing_mutants(self) -> tuple[str, ...]:
        """The mutants that the whole suite accepts."""
        return tuple(fault.subject for fault in self.faults if fault.condition == "mutant")


@dataclass(frozen=True)
class Qualification:
    """A problem's measurements and what follows.

    Attributes:
        measured: what was measured.
        suites: its suites with their faults.
        kernels: what became of its Helion kernels, where they were tried.
    """

    measured: Measurements
    suites: tuple[SuiteResult, ...]
    kernels: tuple[KernelTrial, ...] = ()

    @property
    def deciding(self) -> tuple[SuiteResult, ...]:
        """The suites that count: those that rank or may, or all if none of them does."""
        return tuple(result for result in self.suites if result.measured.counts) or self.suites

    @property
    def kernel_faults(self) -> tuple[Fault, ...]:
        """What is wrong with its Helion kernels."""
        return tuple(Fault("kernel", name, message) for name, message in kernel_faults(self.kernels))

    @property
    def qualified(self) -> bool:
        """Whether every suite that counts is without fault, and every Helion kernel came out as it must."""
        return not any(result.faults for result in self.deciding) and not self.kernel_faults


def judge_measurements(measured: Measurements) -> Qualification:
    """Hold every suite against the conditions."""
    results = (SuiteResult(suite, find_faults(suite, measured)) for suite in measured.suites)
    return Qualification(measured, tuple(results))


def find_faults(suite: SuiteMeasurements, measured: Measurements) -> tuple[Fault, ...]:
    """Return the conditions that a suite does not meet, the gravest first."""
    table = tabulate(suite)
    tried = [candidate for candidate in measured.candidates if candidate.name in table]
    return (
        *_reference_faults(suite),
        *(fault for c in tried if c.expected == ACCEPT for fault in _honest_faults(c, suite, measured)),
        *(_accepted(c, suite, table[c.name]) for c in tried if c.expected == REFUSE and _passes(table[c.name])),
        *(fault for c in tried if c.drops for fault in _term_faults(c, suite, measured)),
        *(_silence_fault(silence, suite) for silence in suite.silences),
        *(Fault("margin", name, told) for name, told in _margin_faults(suite, measured)),
    )


def _margin_faults(suite: SuiteMeasurements, measured: Measurements) -> Iterator[tuple[str, str]]:
    """What task.yml says wrongly of the margins: those of the suites that rank."""
    return margin_faults(suite, measured) if suite.standing == RANKS else iter(())


def _reference_faults(suite: SuiteMeasurements) -> Iterator[Fault]:
    for found in suite.ranges:
        if found.not_finite:
            message = (
                f"reference output {found.output} holds {found.not_finite} NaN or infinite elements in {found.case}"
            )
            yield Fault("reference", found.output, f"{message}: choose inputs that stay finite")
    for output, case in dict.fromkeys((found.output, found.case) for found in suite.ranges if found.constant):
        message = f"reference output {output} is constant in {case}"
        yield Fault("reference", output, f"{message}: a kernel need not read its inputs to pass there")


def _honest_faults(candidate: Candidate, suite: SuiteMeasurements, measured: Measurements) -> Iterator[Fault]:
    refused = [trial for trial in suite.trials if trial.candidate == candidate.name and trial.refused]
    if refused:
        worst = max(refused, key=lambda trial: trial.error)
        count, total = sum(t.refused for t in refused), sum(t.seeds for t in refused)
        yield Fault(
            "honest",
            candidate.name,
            f"{candidate.name} is honest where the precision is {measured.precision}, and is refused in {count} of "
            f"{total} calls, the worst {describe_error(worst.error)} the tolerance ({worst.reason}) in {worst.case}: "
            f"allow more, or draw tamer inputs",
        )


def _passes(row: dict[str, Cell]) -> bool:
    return not any(cell.refused for cell in row.values())


def _accepted(candidate: Candidate, suite: SuiteMeasurements, row: dict[str, Cell]) -> Fault:
    distribution, worst = max(row.items(), key=lambda item: item[1].error)
    seen = f"at most {describe_error(worst.error)} the tolerance, in {distribution}"
    if candidate.mutant:
        message = (
            f"{candidate.name} passes every case of suite {suite.suite} ({seen}): add a distribution or a shape "
            f"that shows its mistake, or tighten a tolerance. {candidate.mistake}"
        )
        return Fault("mutant", candidate.name, message)
    message = (
        f"{candidate.name} operands pass every case of suite {suite.suite} ({seen}), so a kernel gains by computing "
        f"less precisely: tighten a tolerance, or add a distribution that shows it"
    )
    return Fault("precision", candidate.name, message)


def _term_faults(candidate: Candidate, suite: SuiteMeasurements, measured: Measurements) -> Iterator[Fault]:
    """A term must count in every output that it enters: where leaving it out changes more than float32's rounding."""
    for number, facts in enumerate(measured.outputs):
        errors = [(t.by_output[number], t.distribution) for t in suite.trials if t.candidate == candidate.name]
        rounding = max((t.by_output[number] for t in suite.trials if t.candidate == "float32"), default=0.0)
        worst, distribution = max(errors)
        if rounding < worst <= TERM_MARGIN:
            yield Fault(
                "term",
                str(candidate.drops),
                f"leaving out {candidate.drops} ({candidate.name}) costs output {facts.name} "
                f"{describe_error(worst)} the tolerance at most in suite {suite.suite} ({distribution}); "
                f"it must cost more than {TERM_MARGIN:g} times somewhere",
            )


def _silence_fault(silence: Silence, suite: SuiteMeasurements) -> Fault:
    share = f"{silence.elements} of {silence.total} elements of {silence.tensor}"
    seen = f"at {silence.shape} under any distribution of suite {suite.suite}, the first {silence.first}"
    if silence.kind == "input":
        message = (
            f"{share} influence no output beyond its tolerance {seen}: a kernel need not read them. Change the inputs, "
            f"or declare them in mutants.py's UNUSED if the formula never uses them"
        )
    elif silence.kind == "output":
        message = (
            f"{share} do not vary with the inputs beyond their tolerance {seen}: a kernel need not compute them. "
            f"Change the inputs, or declare them in mutants.py's FIXED if the formula fixes them"
        )
    else:
        message = f"{share} are declared in mutants.py as unused or fixed, but they count: the first {silence.first}"
    return Fault("influence", silence.tensor, message)


def describe_error(error: float) -> str:
    """Return an error over its tolerance in words, as in "3.1 times"."""
    return "beyond" if math.isinf(error) else f"{error:.2g} times" if error < 100 else f"{error:.0f} times"
