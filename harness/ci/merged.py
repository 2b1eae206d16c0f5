"""Which submissions a merge changed, or an organiser names: what is to be built and replayed.

What is on the main branch has passed the gate and a reviewer; names are held against the season all the same, because
an organiser may have merged by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from harness.ci.change import SUBMISSIONS, Change
from harness.ci.examine import Entry
from harness.ci.people import team_names
from harness.errors import UsageError
from harness.spec import Season, find_problem, load_season
from harness.submission import MAIN, check_team_name

EVERY = "all"


def merged_entries(changes: Iterable[Change], root: Path) -> tuple[Entry, ...]:
    """Return the season's submissions among the folders that changes touch, as they lie in the checkout now."""
    season = load_season(root)
    folders = dict.fromkeys(
        tuple(change.path.split("/")[1:3])
        for change in changes
        if change.path.startswith(f"{SUBMISSIONS}/") and change.path.count("/") >= 3
    )
    found = (_find_entry(root, season, team, folder) for team, folder in folders)
    return tuple(sorted(entry for entry in found if entry))


def named_entries(names: Iterable[str], root: Path) -> tuple[Entry, ...]:
    """Return the submissions of the checkout that are named.

    Args:
        names: "TEAM/PROBLEM", "TEAM/all", "all/PROBLEM" or "all".
        root: the checkout.

    Raises:
        UsageError: a name is of no submission of the season.
    """
    season = load_season(root)
    every = [entry for team in team_names(root) for entry in _list_entries(root, season, team)]
    chosen: list[Entry] = []
    for name in names:
        team, _, problem = name.partition("/") if "/" in name else (EVERY, "", name)
        matching = [entry for entry in every if team in (EVERY, entry.team) and problem in (EVERY, entry.problem)]
        if not matching:
            raise UsageError(f"no submission {name[:80]!r} in the season: name TEAM/PROBLEM, with 'all' for either")
        chosen += matching
    return tuple(sorted(dict.fromkeys(chosen)))


def split_doubles(entries: Iterable[Entry], root: Path) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Return the entries that can be built, and those whose team has several folders for the problem.

    Which of the folders a record would be of is anybody's guess. The gate lets no team get there, and a merge by hand
    must not keep the others from being ranked.
    """
    chosen, season = tuple(entries), load_season(root)
    teams = {entry.team for entry in chosen}
    folders = Counter((e.team, e.problem) for team in teams for e in _list_entries(root, season, team))
    doubles = tuple(entry for entry in chosen if folders[entry.team, entry.problem] > 1)
    return tuple(entry for entry in chosen if entry not in doubles), doubles


def _list_entries(root: Path, season: Season, team: str) -> list[Entry]:
    folders = sorted(path.name for path in (root / SUBMISSIONS / team).iterdir() if path.is_dir())
    return [entry for folder in folders if (entry := _find_entry(root, season, team, folder))]


def _find_entry(root: Path, season: Season, team: str, folder: str) -> Entry | None:
    """Return what lies in a folder if it can be submitted."""
    try:
        check_team_name(team)
        problem = find_problem(root, folder).name
    except UsageError:
        return None
    here = (root / SUBMISSIONS / team / folder / MAIN).is_file()
    return Entry(team, problem, folder) if here and problem in season.problems else None
