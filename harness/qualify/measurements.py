"""What qualification measures, as frozen dataclasses: the child's message, and what `conditions` judges.

Standard library only: the parent reads it without torch. Errors are in units of the tolerance, the larger of the
elementwise and the relative L2 error; above 1 is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.qualify.asked import NEVER_RANKS

ACCEPT, REFUSE, EITHER = "accept", "refuse", "either"


@dataclass(frozen=True)
class Candidate:
    """One way to compute a problem.

    Attributes:
        name: a precision, or a mutant's name.
        mutant: whether it is a mutant; else it is the honest kernel in some precision.
        expected: "accept" in every case, "refuse" in at least one, or "either" where nothing follows from it.
        mistake: what is wrong with it, in a line; empty for an honest kernel.
        drops: the term of the formula that it leaves out, if it is right but for that.
    """

    name: str
    mutant: bool
    expected: str
    mistake: str = ""
    drops: str | None = None


@dataclass(frozen=True)
class Trial:
    """What became of one candidate on one case, over all seeds.

    Attributes:
        case: the case's id.
        distribution: its distribution.
        candidate: the candidate's name.
        seeds: how many inputs were tried.
        refused: how many of them were refused.
        error: the largest error over its tolerance; infinite where something was not finite or not written.
        by_output: the same for each output, in order.
        reason: the judge's reason of the first refusal.
    """

    case: str
    distribution: str
    candidate: str
    seeds: int
    refused: int
    error: float
    by_output: tuple[float, ...]
    reason: str | None = None


@dataclass(frozen=True)
class OutputRange:
    """What the reference of one case holds.

    Attributes:
        case: the case's id.
        distribution: its distribution.
        output: the output's name.
        constant: whether every element has the same value, but for those that mutants.py declares fixed.
        not_finite: how many elements are NaN or infinite where the problem does not allow it.
    """

    case: str
    distribution: str
    output: str
    constant: bool
    not_finite: int


@dataclass(frozen=True)
class Silence:
    """Elements of a tensor that do nothing, or against what is declared, something.

    Attributes:
        tensor: its name.
        kind: "input" (nothing depends on it), "output" (it depends on nothing), or "declared" (mutants.py declares
            these elements unused or fixed, and they are not).
        shape: the shape that was measured, as in case ids.
        elements: how many of them.
        total: how many the tensor has.
        first: the place of the first.
    """

    tensor: str
    kind: str
    shape: str
    elements: int
    total: int
    first: str


@dataclass(frozen=True)
class SuiteMeasurements:
    """One suite, measured.

    Attributes:
        suite: its name.
        standing: as `asked.SuiteRequest` has it.
        trials: one per candidate and case.
        ranges: one per case and output.
        silences: what does not depend on what.
        without_mutants: cases too large for mutants; the variants at the limit of precision ran once.
        untried: cases too large to be tried on a CPU at all.
    """

    suite: str
    standing: str
    trials: tuple[Trial, ...]
    ranges: tuple[OutputRange, ...]
    silences: tuple[Silence, ...]
    without_mutants: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the problem's qualification depends on it: it ranks, or may."""
        return self.standing != NEVER_RANKS


@dataclass(frozen=True)
class OutputFacts:
    """What task.yml says of an output's tolerance.

    Attributes:
        name: the output's.
        accepted, refused: the margins as written; None if they are not.
    """

    name: str
    accepted: float | None = None
    refused: float | None = None


@dataclass(frozen=True)
class Measurements:
    """A problem, measured: what the child reports.

    Attributes:
        problem: its name.
        version: its version.
        precision: what task.yml calls its precision.
        seeds: how many inputs per case honest variants had; mutants had `mutant_seeds`.
        mutant_seeds: as said.
        outputs: the problem's outputs.
        candidates: honest variants, then mutants.
        suites: the suites.
    """

    problem: str
    version: str
    precision: str
    seeds: int
    mutant_seeds: int
    outputs: tuple[OutputFacts, ...]
    candidates: tuple[Candidate, ...]
    suites: tuple[SuiteMeasurements, ...]


@dataclass(frozen=True)
class Cell:
    """One cell of the table: a candidate under a distribution, over its cases."""

    refused: bool
    error: float


def tabulate(suite: SuiteMeasurements) -> dict[str, dict[str, Cell]]:
    """Return candidate -> distribution -> cell: the worst over cases and seeds."""
    table: dict[str, dict[str, Cell]] = {}
    for trial in suite.trials:
        row = table.setdefault(trial.candidate, {})
        before = row.get(trial.distribution, Cell(refused=False, error=0.0))
        row[trial.distribution] = Cell(before.refused or trial.refused > 0, max(before.error, trial.error))
    return table
