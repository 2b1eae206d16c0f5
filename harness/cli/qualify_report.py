"""The report of a qualification: for terminals of any width, and as a document. What stderr is told is the verb's."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.cli.output import output_columns

if TYPE_CHECKING:
    from harness.qualify.conditions import Qualification, SuiteResult
    from harness.qualify.margins import Margin
    from harness.qualify.measurements import Candidate, Cell

_BETWEEN = 2  # blanks after a column


def document(result: Qualification) -> dict[str, Any]:
    """Return a qualification as a document for machines."""
    from harness.store.codec import encode

    measured = result.measured
    suites = [
        {
            "suite": suite.measured.suite,
            "standing": suite.measured.standing,
            "faults": [encode(fault) for fault in suite.faults],
            "trials": [encode(trial) for trial in suite.measured.trials],
            "without_mutants": list(suite.measured.without_mutants),
            "untried": list(suite.measured.untried),
        }
        for suite in result.suites
    ]
    facts = encode(dataclasses.replace(measured, suites=()))
    return {
        "qualified": result.qualified,
        **facts,
        "suites": suites,
        "kernels": [encode(trial) for trial in result.kernels],
        "kernel_faults": [encode(fault) for fault in result.kernel_faults],
    }


def render(result: Qualification) -> list[Any]:
    """Return a qualification as rich renderables."""
    from rich.text import Text

    measured = result.measured
    word, style = ("QUALIFIED", "bold green") if result.qualified else ("NOT QUALIFIED", "bold red")
    mutants = sum(candidate.mutant for candidate in measured.candidates)
    facts = f"  {measured.problem} · version {measured.version} · precision {measured.precision} · {mutants} mutants"
    parts: list[Any] = [Text.assemble((word, style), facts)]
    for suite in result.suites:
        parts += _render_suite(suite, result, told=suite in result.deciding)
    parts.append(
        Text("Numbers are the largest error over its tolerance, ✗ is refused; 0 is less than 0.01.", "dim"),
    )
    parts += [Text(f"{margin.output}: {{{margin.written()}}}", "dim") for margin in _margins(result)]
    return parts + _render_kernels(result)


def _margins(result: Qualification) -> tuple[Margin, ...]:
    """The margins in the first suite, for task.yml."""
    from harness.qualify.margins import measure_margins

    return measure_margins(result.suites[0].measured, result.measured)


def _render_kernels(result: Qualification) -> list[Any]:
    """What became of the Helion kernels, and the faults among them."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if not result.kernels:
        return []
    table = Table("kernel", "replayed on", "verdict", "", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for trial in result.kernels:
        style = "green" if trial.as_expected else "bold red"
        table.add_row(trial.kernel, trial.device, Text(trial.verdict, style), f"{trial.reason} {trial.case}".strip())
    faults = [Text(f"  • {fault.message}", "red") for fault in result.kernel_faults]
    return [Text("\nAs Helion kernels, submitted like anybody's"), table, *faults]


def _render_suite(suite: SuiteResult, result: Qualification, *, told: bool) -> list[Any]:
    """The table of a suite, and its faults where they decide."""
    from rich.text import Text

    from harness.qualify.table import summary

    parts: list[Any] = [Text(f"\nSuite {suite.measured.suite} {summary(suite)}"), *_tables(suite, result)]
    if told:
        parts += [Text(f"  • {fault.message}", "red") for fault in suite.faults]
    if suite.measured.without_mutants:
        parts.append(Text(f"too large for mutants: {', '.join(suite.measured.without_mutants)}", "dim"))
    if suite.measured.untried:
        parts.append(Text(f"too large for a CPU: {', '.join(suite.measured.untried)}", "dim"))
    return parts


def _tables(suite: SuiteResult, result: Qualification) -> Iterator[Any]:
    """Yield the table, in as many parts as it takes to show every number whole."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from harness.qualify.table import cell_text, distributions, expectation, rows

    failed = {fault.subject for fault in suite.faults}
    names, lines = [], []
    for candidate, cells in rows(suite, result.measured):
        name = candidate.name if candidate.mutant else f"{candidate.name}: {expectation(candidate)}"
        style = "bold red" if candidate.name in failed else "" if candidate.mutant else "bold"
        names.append(Text(name, style))
        lines.append([Text(cell_text(cell), _colour(candidate, cell)) for cell in cells])
    heads = [name.replace("_", "\n").replace("-", "\n", 1) for name in distributions(suite)]
    widths = [
        max(map(len, (*head.split("\n"), *column)))
        for head, column in zip(heads, zip(*lines, strict=True), strict=True)
    ]
    for part in fit(widths, output_columns() - max(map(len, names)) - 4):
        table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
        table.add_column("", no_wrap=True)
        for head in heads[part]:
            table.add_column(head, justify="right", no_wrap=True)
        for label, line in zip(names, lines, strict=True):
            table.add_row(label, *line[part])
        yield table


def fit(widths: Sequence[int], columns: int) -> Iterator[slice]:
    """Yield which neighbours fit side by side; one that is too wide stands alone."""
    start, taken = 0, 0
    for number, width in enumerate(widths):
        if number > start and taken + width + _BETWEEN > columns:
            yield slice(start, number)
            start, taken = number, 0
        taken += width + _BETWEEN
    yield slice(start, len(widths))


def _colour(candidate: Candidate, cell: Cell | None) -> str:
    if cell is None or candidate.expected == "either":
        return "dim"
    if candidate.expected == "accept":
        return "red" if cell.refused else "green"
    return "green" if cell.refused else "dim"
