"""`harness qualify`: does a problem tell right from wrong?"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.output import print_json, print_renderable, report_faulty
from harness.cli.qualify_report import document, render
from harness.engine.workspace import find_workspace
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.engine.workspace import Workspace
    from harness.qualify.asked import SuiteRequest
    from harness.qualify.conditions import Qualification
    from harness.spec import Problem, Season


@click.command()
@click.argument("problems", metavar="[PROBLEM]...", nargs=-1)
@click.option("--suite", help="Only this suite; it then decides, whether it ranks or not.")
@click.option("--kernels/--no-kernels", default=True, help="Try the problem's Helion kernels too.  [default: kernels]")
@click.option(
    "--seeds", type=click.IntRange(2), default=4, show_default=True, help="Inputs per case for honest variants."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the tables for the problem's README.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    problems: tuple[str, ...], suite: str | None, kernels: bool, seeds: int, as_markdown: bool, as_json: bool
) -> int:
    """Try honest variants and mutants on PROBLEM, or on every problem of the season.

    Honest ones must pass everywhere, and every mutant must be refused somewhere in every suite that ranks or may. Those
    that kernels.yml makes of the starter are submitted as Helion kernels too, and replayed on this machine's GPU if the
    season ranks on it. Exits with 1 if anything is missing, and says what; of several problems, each has its turn.
    """
    from harness.case import DEFAULT_SUITE, suite_names
    from harness.qualify.asked import ask_suite
    from harness.spec import choose_problems, load_season

    workspace = find_workspace(Path.cwd())
    season = load_season(workspace.root)
    by_name, faults = choose_problems(workspace.root, season, problems)
    found = list(by_name.values())
    ranking = {name: entry.suites for name, entry in season.problems.items()}
    asked = {
        p.name: [ask_suite(p, name, ranking.get(p.name, (DEFAULT_SUITE,))) for name in suites]
        for p in found
        for suites in [(suite,) if suite else suite_names(p)]
    }  # an unknown suite is told before anything runs
    results: list[Qualification] = []
    failed: dict[str, HarnessError] = {}
    for problem in found:
        try:
            result = _qualify(problem, asked[problem.name], seeds, quiet=as_json)
            if kernels:
                result = _add_kernels(result, problem, suite or DEFAULT_SUITE, workspace, season, quiet=as_json)
        except HarnessError as error:
            if len(problems) == 1:
                raise
            failed[problem.name] = error  # the others have their turn all the same
            continue
        results.append(result)
        if not as_json:
            _show(result, as_markdown=as_markdown)
    if as_json:
        documents = [*map(document, results), *_failures(failed, faults)]
        print_json(documents[0] if len(problems) == 1 else documents)
    return _conclude(results, failed, faults)


def _show(result: Qualification, *, as_markdown: bool) -> None:
    if as_markdown:
        from harness.qualify.table import markdown

        sys.stdout.write(markdown(result))
    else:
        print_renderable(*render(result))


def _failures(failed: Mapping[str, HarnessError], faults: Mapping[str, str]) -> list[dict[str, Any]]:
    """The documents of problems that could not be tried, and of those at fault."""
    untried = [{"problem": name, "qualified": False, "error": str(error)} for name, error in failed.items()]
    return [*untried, *({"problem": name, "error": told} for name, told in faults.items())]


def _conclude(results: Sequence[Qualification], failed: Mapping[str, HarnessError], faults: Mapping[str, str]) -> int:
    """Tell which problems could not be tried, and why; return the exit code.

    A problem that has no mutants, or some that cannot be imported, is not qualified; a crash is told as one alone is.
    """
    from harness.text import clean

    for name, error in failed.items():
        print(f"error: {clean(name)} is not qualified: {clean(str(error), lines=True)}", file=sys.stderr)
    left_out = report_faulty(faults)
    if any(error.exit_code == HarnessError.exit_code for error in failed.values()):
        return HarnessError.exit_code
    return left_out if not failed and all(result.qualified for result in results) else 1


def _qualify(problem: Problem, suites: list[SuiteRequest], seeds: int, *, quiet: bool) -> Qualification:
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


def _add_kernels(
    result: Qualification, problem: Problem, suite: str, workspace: Workspace, season: Season, *, quiet: bool
) -> Qualification:
    """Submit the problem's Helion kernels, and add what became of them."""
    from harness.cli.progress import show_progress
    from harness.engine.progress import Event
    from harness.engine.qualifying import Course, try_kernels
    from harness.sandbox import best_level
    from harness.toolchain import check_toolchain

    course = Course.here(workspace, season, best_level().level, check_toolchain())
    with show_progress(quiet=quiet) as listener:
        trials = try_kernels(
            course,
            problem,
            result.measured.candidates,
            suite,
            lambda step, done, total: listener(Event("qualify", "advance", f"{problem.name} {step}", done, total)),
        )
    return dataclasses.replace(result, kernels=trials)
