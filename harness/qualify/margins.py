"""How far honest and wrong kernels stay from each output's tolerance, and whether task.yml says so. Pure.

The room on both sides is what a tolerance is chosen by: below 1 the largest error of an honest kernel, above 1 the
smallest by which a wrong one gives itself away. Beside each tolerance in task.yml stand the two, and they must be what
is measured: numbers that nobody measures anew say nothing after the next change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.qualify.measurements import ACCEPT, REFUSE, Measurements, SuiteMeasurements, Trial

# What a few seeds and shapes more or less may change of what is measured.
LOOSER, TIGHTER = 1.3, 0.6
NOISE = 0.04  # of a tolerance: below, errors are float32's own rounding, whose largest varies with seeds and machines


@dataclass(frozen=True)
class Margin:
    """The room on both sides of an output's tolerance, in units of it.

    Attributes:
        output: its name.
        accepted: the largest error of a variant that must be accepted.
        accepted_by, accepted_in: which variant's, under which distribution.
        refused: the smallest error by which this output gives away what must be refused; infinite if it never does.
        refused_by, refused_in: what is given away so narrowly, and under which distribution.
    """

    output: str
    accepted: float
    accepted_by: str
    accepted_in: str
    refused: float
    refused_by: str
    refused_in: str

    def written(self) -> str:
        """Return the margins as task.yml has them: two digits, never better than what was measured."""
        return f"accepted: {_digits(self.accepted, math.ceil)}, refused: {_digits(self.refused, math.floor)}"


def measure_margins(suite: SuiteMeasurements, measured: Measurements) -> tuple[Margin, ...]:
    """Return the margins of every output in a suite."""
    return tuple(_margin(number, facts.name, suite, measured) for number, facts in enumerate(measured.outputs))


def _margin(number: int, output: str, suite: SuiteMeasurements, measured: Measurements) -> Margin:
    honest = [c.name for c in measured.candidates if c.expected == ACCEPT]
    accepted, by, within = max(_errors(number, suite, honest), default=(0.0, "", ""))
    told: list[tuple[float, str, str]] = []
    for candidate in measured.candidates:
        if candidate.expected == REFUSE:
            worst = max(_errors(number, suite, [candidate.name]), default=(0.0, "", ""))
            told += [worst] if worst[0] > 1 else []
    return Margin(output, accepted, by, within, *min(told, default=(math.inf, "", "")))


def _errors(number: int, suite: SuiteMeasurements, names: list[str]) -> Iterator[tuple[float, str, str]]:
    trials: Iterator[Trial] = (trial for trial in suite.trials if trial.candidate in names)
    return ((trial.by_output[number], trial.candidate, trial.distribution) for trial in trials)


def margin_faults(suite: SuiteMeasurements, measured: Measurements) -> Iterator[tuple[str, str]]:
    """Say of which outputs task.yml's margins are not what was measured: the output, and what to do."""
    for facts, margin in zip(measured.outputs, measure_margins(suite, measured), strict=True):
        if facts.accepted is None or facts.refused is None:
            continue
        told = f"write {margin.written()} beside the tolerance of {facts.name}"
        if not facts.accepted * TIGHTER - NOISE <= margin.accepted <= facts.accepted * LOOSER + NOISE:
            seen = f"{margin.accepted:.2g} ({margin.accepted_by}, {margin.accepted_in})"
            yield facts.name, f"task.yml says accepted: {facts.accepted:g}, measured is {seen}: {told}"
        if not facts.refused / LOOSER <= margin.refused <= facts.refused / TIGHTER:
            seen = f"{margin.refused:.2g} ({margin.refused_by}, {margin.refused_in})"
            yield facts.name, f"task.yml says refused: {facts.refused:g}, measured is {seen}: {told}"


def _digits(value: float, round_: Callable[[float], int]) -> str:
    """Return a number with two digits, rounded up or down."""
    if not value or math.isinf(value):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{float(f'{round_(value / unit) * unit:.2g}'):g}"
