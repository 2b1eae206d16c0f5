"""The table of a qualification: candidate by distribution, in numbers short enough for a cell, and Markdown. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.qualify.conditions import Qualification, SuiteResult
from harness.qualify.kernels import KernelTrial
from harness.qualify.margins import measure_margins
from harness.qualify.measurements import EITHER, REFUSE, Candidate, Cell, Measurements, tabulate

REFUSED = "✗"


def distributions(result: SuiteResult) -> tuple[str, ...]:
    """Return the distributions of a suite in the order of its cases: the table's columns."""
    return tuple(dict.fromkeys(trial.distribution for trial in result.measured.trials))


def rows(result: SuiteResult, measured: Measurements) -> list[tuple[Candidate, list[Cell | None]]]:
    """Return the table's rows: each candidate with its cell under each distribution."""
    table, columns = tabulate(result.measured), distributions(result)
    tried = [candidate for candidate in measured.candidates if candidate.name in table]
    return [(candidate, [table[candidate.name].get(column) for column in columns]) for candidate in tried]


def cell_text(cell: Cell | None) -> str:
    """Return an error over its tolerance in five characters or less, marked if it was refused."""
    if cell is None:
        return ""
    return _short(cell.error) + (REFUSED if cell.refused else "")


def _short(error: float) -> str:
    if math.isinf(error):
        return "∞"
    if error < 0.01:
        return "0"
    if error < 9.95:
        return f"{error:.2f}" if error < 0.995 else f"{error:.1f}"
    return f"{error:.0f}" if error < 999.5 else f"{error:.0e}".replace("e+0", "e").replace("e+", "e")


def expectation(candidate: Candidate) -> str:
    """Return what must become of a candidate, in two words or less."""
    if candidate.expected == EITHER:
        return "either"
    return "refused" if candidate.expected == REFUSE else "accepted"


def markdown(qualification: Qualification) -> str:
    """Return what was seen as Markdown, for a problem's README: a sentence per suite, and one table of all.

    The table has a column for each distribution, from the first suite that has it.
    """
    measured = qualification.measured
    sentences = [f"- Suite `{result.measured.suite}` {summary(result)}" for result in qualification.suites]
    found: dict[str, dict[str, Cell | None]] = {}
    for result in reversed(qualification.suites):
        for number, name in enumerate(distributions(result)):
            found[name] = {candidate.name: cells[number] for candidate, cells in rows(result, measured)}
    columns = list(dict.fromkeys(name for result in qualification.suites for name in distributions(result)))
    lines = [_markdown_row(c, [found[name].get(c.name) for name in columns]) for c in measured.candidates]
    return "\n".join(
        [
            f"`harness qualify {measured.problem}` tries the honest kernel in several precisions, and kernels that are",
            "wrong in one way each ([mutants.py](mutants.py)), judged as submissions are. Numbers are the largest",
            f"error over its tolerance, over all cases of a distribution; {REFUSED} is refused, 0 is less than 0.01.",
            "",
            *sentences,
            "",
            f"| | {' | '.join(columns)} | |",
            "|---" * (len(columns) + 2) + "|",
            *lines,
            "",
            *_markdown_margins(qualification),
            *_markdown_kernels(qualification.kernels),
        ]
    )


def _markdown_margins(qualification: Qualification) -> list[str]:
    """The room on both sides of each tolerance, in the first suite."""
    margins = measure_margins(qualification.suites[0].measured, qualification.measured)
    rows_ = [
        f"| `{m.output}` | {_short(m.accepted)} ({m.accepted_by}, `{m.accepted_in}`) "
        f"| {_short(m.refused)} ({m.refused_by}, `{m.refused_in}`) |"
        for m in margins
    ]
    head = ["| output | largest error of an honest kernel | smallest that gives a wrong one away |", "|---|---|---|"]
    return ["In units of the tolerance, each output has this room on both sides:", "", *head, *rows_, ""]


def _markdown_kernels(trials: Sequence[KernelTrial]) -> list[str]:
    if not trials:
        return []
    rows_ = [
        f"| `{t.kernel}` | {t.device} | {t.verdict} | {f'{t.reason} in `{t.case}`' if t.case else ''} |" for t in trials
    ]
    told = "As Helion kernels ([kernels.yml](kernels.yml)), submitted like anybody's, tests only:"
    return [told, "", "| kernel | replayed on | verdict | |", "|---|---|---|---|", *rows_, ""]


def _markdown_row(candidate: Candidate, cells: list[Cell | None]) -> str:
    texts = " | ".join(cell_text(cell) for cell in cells)
    if not candidate.mutant:
        told = {"accepted": "must be accepted", "refused": "must be refused"}.get(expectation(candidate), "")
        return f"| **{candidate.name}** | {texts} | {told} |"
    drops = f" Drops {candidate.drops}." if candidate.drops else ""
    return f"| `{candidate.name}` | {texts} | {candidate.mistake}{drops} |"


def summary(result: SuiteResult) -> str:
    """Return in a sentence what became of a suite."""
    rank = result.measured.standing
    if not result.faults:
        return f"{rank}; every mutant is refused and every condition met."
    passing = result.passing_mutants
    if not passing:
        return f"{rank}; every mutant is refused, but {_counted(len(result.faults), 'condition')} not met."
    others = len(result.faults) - len(passing)
    further = f"; {_counted(others, 'further condition')} not met" if others else ""
    return f"{rank}; {_counted(len(passing), 'mutant', 'passes', 'pass')}: {', '.join(passing)}{further}."


def _counted(count: int, noun: str, one: str = "is", many: str = "are") -> str:
    return f"{count} {noun} {one}" if count == 1 else f"{count} {noun}s {many}"
