"""Finding a problem of a repository by its name: its folder, and the suites that shapes.yaml adds to it."""

from __future__ import annotations

from collections.abc import Sequence
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
    aliases, faulty = _find_aliases(root, names)
    if name in aliases:
        return _with_shared_suites(root, aliases[name])
    near = get_close_matches(name, [*names, *aliases], n=3, cutoff=0.5)
    meant = dict.fromkeys(aliases[n].name if n in aliases else n for n in near)
    hint = f" Did you mean {' or '.join(meant)}?" if meant else ""
    unread = f" Their aliases are not known while they are at fault: {', '.join(faulty)}." if faulty else ""
    raise UsageError(f"unknown problem {name!r}.{hint} Problems: {', '.join(names) or 'none'}.{unread}")


def _find_aliases(root: Path, names: Sequence[str]) -> tuple[dict[str, Problem], list[str]]:
    """Return whose each alias is, and the problems that do not load: they stand in nobody else's way."""
    aliases: dict[str, Problem] = {}
    faulty = []
    for folder in names:
        try:
            problem = load_problem(root / "problems" / folder)
        except SpecError:
            faulty.append(folder)
        else:
            aliases |= dict.fromkeys(problem.aliases, problem)
    return aliases, faulty


def find_season_problems(root: Path, season: Season) -> dict[str, Problem]:
    """Load the problems that a season names, by those names.

    Raises:
        SpecError: there is no such problem, or its folder or shapes.yaml is at fault.
    """
    return {name: _find_named(root, name) for name in season.problems}


def survey_season_problems(root: Path, season: Season) -> tuple[dict[str, Problem], dict[str, str]]:
    """Load those of a season's problems that load: a list of all shows the others where one is at fault.

    Returns:
        The problems that load, and what is wrong with each of the others, both by name.

    Raises:
        SpecError: not one of them loads; every fault is listed.
    """
    found, faults = {}, {}
    for name in season.problems:
        try:
            found[name] = _find_named(root, name)
        except SpecError as error:
            faults[name] = str(error)
    if not found:
        raise SpecError("\n".join(faults.values()))
    return found, faults


def choose_problems(root: Path, season: Season, names: Sequence[str]) -> tuple[dict[str, Problem], dict[str, str]]:
    """Load the problems that are named; where none is, survey the season's.

    Returns:
        The problems, and what is wrong with those that are left out of all, both by name.

    Raises:
        UsageError: there is none of a name.
        SpecError: one that is named is at fault, or all of the season's are.
    """
    if not names:
        return survey_season_problems(root, season)
    problems = [find_problem(root, name) for name in names]
    return {problem.name: problem for problem in problems}, {}


def _find_named(root: Path, name: str) -> Problem:
    try:
        return find_problem(root, name)
    except SpecError:
        raise
    except UsageError as error:
        raise SpecError(f"{root / 'shapes.yaml'}: season.problems.{name}: {error}") from None


def _with_shared_suites(root: Path, problem: Problem) -> Problem:
    path = root / "shapes.yaml"
    return attach_suites(problem, load_document(path, Shapes).suites, path)
