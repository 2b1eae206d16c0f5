"""The options that name a submission, shared by the verbs that take one, and what they resolve to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.engine.workspace import Workspace, find_workspace
from harness.errors import UsageError
from harness.text import clean

if TYPE_CHECKING:
    from harness.engine.request import BuildRequest
    from harness.sandbox import Level
    from harness.spec import Problem, Season
    from harness.submission import Submission
    from harness.target import Target

DEFAULT_TEAM = "starter"
FILE_TEAM = "local"  # who a file of nobody's folder is recorded as
Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--team", help=f"Whose submission: submissions/TEAM/PROBLEM. [default: {DEFAULT_TEAM}]"),
    click.option(
        "--file",
        "file",
        type=click.Path(path_type=Path),
        help=f"Submit this file; as team {FILE_TEAM} if none is given.",
    ),
    click.option(
        "--target",
        help="The GPU to build for; by default this machine's, the one of the file's header, or the season's first.",
    ),
    click.option(
        "--division", type=click.Choice(["closed", "open"]), help="Whose rules; the season's first division by default."
    ),
    click.option("--suite", default="default", show_default=True, help="Which of the problem's suites."),
    click.option("--case", "cases", multiple=True, help="Only these cases: an id, a shape, a role, or a glob."),
    click.option(
        "--portable", is_flag=True, help="Drop config keys that the target lacks, with a warning; never ranked."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the report."),
    click.option("--debug", is_flag=True, help="Show the harness's own traceback of an error of ours."),
)


def submission_options(function: Function) -> Function:
    """Add the argument and the options that name a submission and how to build it."""
    return click.argument("problem")(build_options(function))


def build_options(function: Function) -> Function:
    """Add the options of `submission_options`, without the argument PROBLEM."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True)
class Options:
    """The values of `submission_options`."""

    problem: str
    team: str | None = None
    file: Path | None = None
    target: str | None = None
    division: str | None = None
    suite: str = "default"
    cases: tuple[str, ...] = ()
    portable: bool = False
    as_json: bool = False
    debug: bool = False


def resolve(options: Options) -> tuple[Workspace, BuildRequest]:
    """Find the workspace, the problem, the season and the submission, cheapest checks first.

    Raises:
        UsageError: something named does not exist.
    """
    from harness.case import load_cases, select_cases
    from harness.spec import find_problem, load_season
    from harness.target import load_target

    workspace = find_workspace(Path.cwd())
    problem = find_problem(workspace.root, options.problem)
    season = load_season(workspace.root)
    if problem.name not in season.problems:
        print(f"note: {problem.name} is not in the season, so this is for trying it out: never ranked", file=sys.stderr)
    division = _find_division(options.division, season)
    target = load_target(options.target) if options.target else None
    cases = select_cases(load_cases(problem, options.suite), options.cases)
    submission = find_named(options, workspace, problem)
    # What is slow to import waits until the request is known to be good.
    from harness.engine.request import BuildRequest
    from harness.toolchain import check_toolchain

    toolchain = check_toolchain()
    return workspace, BuildRequest(
        submission=submission,
        problem=problem,
        season=season,
        target=target or _default_target(season, submission),
        division=division,
        cases=cases,
        portable=options.portable,
        level=find_level(),
        toolchain=toolchain,
        suite=options.suite,
    )


def _find_division(wanted: str | None, season: Season) -> str:
    """Return the division that is wanted, or the season's first.

    Raises:
        UsageError: the season has none of that name; nothing has been done yet.
    """
    if wanted is not None and wanted not in season.divisions:
        listed, first = " and ".join(season.divisions), season.divisions[0]
        raise UsageError(
            f"the season has no {wanted} division, it has {listed}: leave DIVISION (--division) out for {first}; an "
            f"organiser adds one to `divisions` of shapes.yaml"
        )
    return wanted or season.divisions[0]


def find_named(options: Options, workspace: Workspace, problem: Problem) -> Submission:
    """Return the submission that the options name.

    Raises:
        UsageError: it does not exist, or is none.
    """
    from harness.submission import find_submission, load_submission

    if options.file is not None:
        submission = load_submission(options.file, options.team or FILE_TEAM)
    else:
        submission = find_submission(workspace.root, options.team or DEFAULT_TEAM, problem.name, problem.aliases)
    _compare_header(submission, problem)
    return submission


def named_targets(season: Season, submission: Submission) -> list[str]:
    """Return the season's targets that the file's header names."""
    # The event adds a provider to some names: B200_Nebius.
    gpus = [value.lower().partition("_")[0] for kind, value in submission.headers if kind == "gpu"]
    return [name for name in gpus if name in season.targets]


def _default_target(season: Season, submission: Submission) -> Target:
    """Return this machine's GPU if the season ranks it, else the one that the file's header names, else the first.

    This machine's comes first: starters have a header, and who has a GPU wants to see a time.
    """
    from harness.engine.local_gpus import find_season_gpu
    from harness.target import load_target

    here = find_season_gpu(season)
    gpus = [value for kind, value in submission.headers if kind == "gpu"]
    named = named_targets(season, submission)
    target = here[1] if here is not None else load_target((*named, season.targets[0])[0])
    if gpus and not named:
        said = f"the file's header says `gpu {clean(gpus[0])[:40]}`, which the season does not rank"
        print(f"note: {said}: built for {target.name}", file=sys.stderr)
    return target


def _compare_header(submission: Submission, problem: Problem) -> None:
    """Tell if the submission's own header names another problem: it may be the wrong file."""
    named = dict(submission.headers).get("leaderboard")
    if named is not None and named not in (problem.name, *problem.aliases):
        print(f"note: the file's header says `leaderboard {clean(named)}`, not {problem.name}", file=sys.stderr)


def find_level() -> Level:
    """Return the best sandbox that this machine has, and tell if it is not the best there is."""
    from harness.sandbox import Level, best_level

    report = best_level()
    if report.level is not Level.STRICT:
        shut_in = "nothing but limits" if report.level is Level.NONE else "less than the full sandbox"
        told = f"sandbox level {report.level}: the submission runs under {shut_in} here"
        print(f"note: {told}. How to raise it: make doctor", file=sys.stderr)
    return report.level
