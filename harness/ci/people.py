"""Who may change what by pull request.

A team's people are those that its team.yml names *in the base*: what the pull request itself says counts for a new team
only. Maintainers are named in `.github/maintainers.yml`, in the base too; the repository's owner is one without that.
The name of a team that has records stays with the people who held it when they have left: boards show it for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from harness.ci.change import SUBMISSIONS, Fault
from harness.errors import SpecError
from harness.spec.document import load_document
from harness.spec.team import TEAM_FILE, Maintainers, Team, find_name_fault, load_team, parse_team

MAINTAINERS_FILE = Path(".github") / "maintainers.yml"

Held = Mapping[str, tuple[str, ...]]
"""The names of teams that have records, and the logins that hold each; none where nobody knows."""

NOBODY: Held = MappingProxyType({})


@dataclass(frozen=True)
class Author:
    """Whose pull request it is: their login, and whether they may change anything."""

    login: str
    maintainer: bool


def find_author(root: Path, login: str, owner: str) -> Author:
    """Return what a login may do.

    Args:
        root: the base's checkout.
        login: who opened the pull request.
        owner: the login of the repository's owner.

    Raises:
        SpecError: the maintainers' file is not of its form.
    """
    path = root / MAINTAINERS_FILE
    named = path.is_file() and load_document(path, Maintainers).has(login)
    return Author(login, named or login.casefold() == owner.casefold())


def team_names(root: Path) -> tuple[str, ...]:
    """Return the teams that the base has."""
    folder = root / SUBMISSIONS
    return tuple(sorted(path.name for path in folder.iterdir() if path.is_dir())) if folder.is_dir() else ()


@dataclass(frozen=True)
class Proposed:
    """What a pull request leaves of a team.

    Attributes:
        team_file: the content of its team.yml at the head, None if there is none.
        changed: whether it changes that.
        gone: the team has no file left.
    """

    team_file: bytes | None
    changed: bool = True
    gone: bool = False


def check_member(root: Path, team: str, author: Author, proposed: Proposed, held: Held = NOBODY) -> Fault | None:
    """Return why this author may not change a team's folder, None if they may.

    Args:
        root: the base's checkout.
        team: a name of the form that names have.
        author: of the pull request.
        proposed: what it leaves of the team.
        held: the names of teams that have records.
    """
    path = f"{SUBMISSIONS}/{team}/{TEAM_FILE}"
    existing = team_names(root)
    new = team not in existing
    if new and (wrong := find_name_fault(team, sorted({*existing, *held}))):
        return Fault("team_name", f"{SUBMISSIONS}/{team}", wrong)
    if new and not author.maintainer and (fault := _check_held(team, author, held)):
        return fault
    if not new and not author.maintainer and (fault := _check_standing(root, team, author, path)):
        return fault
    if proposed.gone or (author.maintainer and proposed.team_file is None) or not (new or proposed.changed):
        return None
    return _check_proposed(author, proposed.team_file, path, new=new)


def _check_held(team: str, author: Author, held: Held) -> Fault | None:
    """Hold an author who brings a new team against the people who had one of its name."""
    holders = held.get(team)
    if holders is None or author.login.casefold() in {login.casefold() for login in holders}:
        return None
    whose = f"the people who held it ({', '.join(holders)})" if holders else "the people who held it"
    message = f"a team {team!r} was here and has records: its name stays with {whose}; choose another"
    return Fault("held_name", f"{SUBMISSIONS}/{team}", message)


def _check_standing(root: Path, team: str, author: Author, path: str) -> Fault | None:
    """Hold an author against the team's people in the base."""
    try:
        standing = load_team(root, team)
    except SpecError:  # nobody is locked out for good: a maintainer can mend it
        standing = None
    if standing is None:
        message = f"team {team!r} has no valid {TEAM_FILE} in the base that would name its people: ask a maintainer"
        return Fault("no_team_file", path, message)
    if not standing.has(author.login):
        message = f"{author.login} is not of team {team!r}: its people are those that {path} names in the base"
        return Fault("other_team", f"{SUBMISSIONS}/{team}", message)
    return None


def _check_proposed(author: Author, proposed: bytes | None, path: str, *, new: bool) -> Fault | None:
    """Hold the team.yml that the pull request leaves behind against its form."""
    if proposed is None:
        told = "a new team names its people" if new else "a team keeps naming its people"
        return Fault("no_team_file", path, f"{told}: add {path} with the line `logins: [{author.login}]`")
    try:
        people: Team = parse_team(proposed, path)
    except SpecError as error:
        return Fault("team_file", path, "; ".join(line.removeprefix(f"{path}: ") for line in str(error).splitlines()))
    if new and not author.maintainer and not people.has(author.login):
        return Fault("team_file", path, f"it does not name you: add {author.login} to its logins")
    return None
