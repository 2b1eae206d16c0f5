"""`harness problems`: what there is to solve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.output import print_json, print_renderable, report_faulty
from harness.engine.workspace import find_workspace


@click.command()
@click.argument("problem", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str | None, as_json: bool) -> int:
    """List the season's problems, or the cases of PROBLEM."""
    from harness.spec import find_problem, load_season, survey_season_problems

    root = find_workspace(Path.cwd()).root
    if problem is not None:
        return _show_cases(find_problem(root, problem), as_json)
    by_name, faults = survey_season_problems(root, load_season(root))
    found = by_name.values()
    if as_json:
        documents = [{"name": p.name, "title": p.title, "version": p.version, "aliases": p.aliases} for p in found]
        print_json([*documents, *({"name": name, "error": told} for name, told in faults.items())])
    else:
        rows = [(p.name, p.title, str(len(p.tests)), str(len(p.benchmarks)), p.version) for p in found]
        print_renderable(_table(("problem", "title", "tests", "benchmarks", "version"), rows))
    return report_faulty(faults)


def _show_cases(problem: Any, as_json: bool) -> int:
    from harness.case import load_cases, suite_names

    cases = {suite: load_cases(problem, suite) for suite in suite_names(problem)}
    if as_json:
        print_json({suite: [case.id for case in found] for suite, found in cases.items()})
    else:
        rows = [(suite, case.id) for suite, found in cases.items() for case in found]
        print_renderable(_table(("suite", "case"), rows))
    return 0


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=box.SIMPLE)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
