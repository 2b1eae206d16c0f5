"""Finding a problem of a repository by its name: its folder, and the suites that shapes.yaml adds to it."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from harness.errors import SpecError, UsageError
from harness.spec.document import load_document
from harness.spec.problem import Problem, load_problem, problem_names
from harness.spec.season import Season, Shapes
from harness.spec.suites import attach_suites


def find_problem(root: Path, name: str) -> Problem:
    """Load the problem called `name`, or having it as an alias, with the suites that shapes.yaml gives it.

    Raises:
        UsageError: there is none; the message suggests near names.
        SpecError: its folder or shapes.yaml is at fault.
    """
    names = problem_names(root)
    if name in names:
        return _with_shared_suites(root, load_problem(root / "problems" / name))
    aliases: dict[str, Problem] = {}
    for folder in names:
        problem = load_problem(root / "problems" / folder)
        aliases |= dict.fromkeys(problem.aliases, problem)
    if name in aliases:
        return _with_shared_suites(root, aliases[name])
    near = get_close_matches(name, [*names, *aliases], n=3, cutoff=0.5)
    meant = dict.fromkeys(aliases[n].name if n in aliases else n for n in near)
    hint = f" Did you mean {' or '.join(meant)}?" if meant else ""
    raise UsageError(f"unknown problem {name!r}.{hint} Problems: {', '.join(names) or 'none'}.")


def find_season_problems(root: Path, season: Season) -> dict[str, Problem]:
    """Load the problems that a season names, by those names.

    Raises:
        SpecError: there is no such problem, or its folder or shapes.yaml is at fault.
    """
    found = {}
    for name in season.problems:
        try:
            found[name] = find_problem(root, name)
        except UsageError as error:
            raise SpecError(f"{root / 'shapes.yaml'}: season.problems.{name}: {error}") from None
    return found


def _with_shared_suites(root: Path, problem: Problem) -> Problem:
    path = root / "shapes.yaml"
    return attach_suites(problem, load_document(path, Shapes).suites, path)
