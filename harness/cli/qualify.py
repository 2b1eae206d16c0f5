"""`harness qualify`: does a problem tell right from wrong?"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import find_workspace

if TYPE_CHECKING:
    from harness.qualify.conditions import Qualification, SuiteResult
    from harness.qualify.measurements import Candidate, Cell
    from harness.spec import Problem


@click.command()
@click.argument("problems", metavar="[PROBLEM]...", nargs=-1)
@click.option("--suite", help="Only this suite; it then decides, whether it ranks or not.")
@click.option(
    "--seeds", type=click.IntRange(2), default=4, show_default=True, help="Inputs per case for honest variants."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the tables for the problem's README.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problems: tuple[str, ...], suite: str | None, seeds: int, as_markdown: bool, as_json: bool) -> int:
    """Try honest variants and mutants on PROBLEM, or on every problem of the season.

    Honest ones must pass everywhere, and every mutant must be refused somewhere in every suite that ranks. Exits with 1
    if not, and says what is missing.
    """
    from harness.case import load_cases, suite_names
    from harness.spec import find_problem, load_season

    root = find_workspace(Path.cwd()).root
    found = [find_problem(root, name) for name in problems or load_season(root).problems]
    for problem in found if suite else ():
        load_cases(problem, str(suite))  # an unknown suite is told before anything runs
    results = []
    for problem in found:
        suites = (suite,) if suite else suite_names(problem)
        results.append(_qualify(problem, suites, seeds, quiet=as_json))
        if as_markdown:
            from harness.qualify.table import markdown

            sys.stdout.write(markdown(results[-1]))
        elif not as_json:
            print_renderable(*_render(results[-1]))
    if as_json:
        documents = [_document(result) for result in results]
        print_json(documents[0] if len(problems) == 1 else documents)
    return 0 if all(result.qualified for result in results) else 1


def _qualify(problem: Problem, suites: tuple[str, ...], seeds: int, *, quiet: bool) -> Qualification:
    from harness.cli.progress import show_progress
    from harness.engine.progress import Event
    from harness.qualify.process import qualify

    with show_progress(quiet=quiet) as listener:
        return qualify(
            problem,
            suites,
            seeds,
            lambda step, done, total: listener(Event("qualify", "advance", f"{problem.name} {step}", done, total)),
        )


def _document(result: Qualification) -> dict[str, Any]:
    from harness.store.codec import encode

    measured = result.measured
    suites = [
        {
            "suite": suite.measured.suite,
            "ranks": suite.measured.ranks,
            "faults": [encode(fault) for fault in suite.faults],
            "trials": [encode(trial) for trial in suite.measured.trials],
            "without_mutants": list(suite.measured.without_mutants),
        }
        for suite in result.suites
    ]
    facts = encode(dataclasses.replace(measured, suites=()))
    return {"qualified": result.qualified, **facts, "suites": suites}


def _render(result: Qualification) -> list[Any]:
    from rich.text import Text

    measured = result.measured
    word, style = ("QUALIFIED", "bold green") if result.qualified else ("NOT QUALIFIED", "bold red")
    mutants = sum(candidate.mutant for candidate in measured.candidates)
    facts = f"  {measured.problem} · version {measured.version} · precision {measured.precision} · {mutants} mutants"
    parts: list[Any] = [Text.assemble((word, style), facts)]
    decide = [suite.measured.ranks for suite in result.suites]
    for suite in result.suites:
        parts += _render_suite(suite, result, told=suite.measured.ranks or not any(decide))
    parts.append(
        Text("Numbers are the largest error over its tolerance, ✗ is refused; 0 is less than 0.01.", "dim"),
    )
    return parts


def _render_suite(suite: SuiteResult, result: Qualification, *, told: bool) -> list[Any]:
    """The table of a suite, and its faults where they decide."""
    from rich.text import Text

    from harness.qualify.table import summary

    parts: list[Any] = [Text(f"\nSuite {suite.measured.suite} {summary(suite)}"), _table(suite, result)]
    if told:
        parts += [Text(f"  • {fault.message}", "red") for fault in suite.faults]
    if suite.measured.without_mutants:
        parts.append(Text(f"too large for mutants: {', '.join(suite.measured.without_mutants)}", "dim"))
    return parts


def _table(suite: SuiteResult, result: Qualification) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from harness.qualify.table import cell_text, distributions, expectation, rows

    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for name in distributions(suite):
        table.add_column(name.replace("_", "\n").replace("-", "\n", 1), justify="right", no_wrap=True)
    failed = {fault.subject for fault in suite.faults}
    for candidate, cells in rows(suite, result.measured):
        name = candidate.name if candidate.mutant else f"{candidate.name}: {expectation(candidate)}"
        style = "bold red" if candidate.name in failed else "" if candidate.mutant else "bold"
        table.add_row(Text(name, style), *(Text(cell_text(cell), _colour(candidate, cell)) for cell in cells))
    return table


def _colour(candidate: Candidate, cell: Cell | None) -> str:
    if cell is None or candidate.expected == "either":
        return "dim"
    if candidate.expected == "accept":
        return "red" if cell.refused else "green"
    return "green" if cell.refused else "dim"
