"""What a pull request changes, and whether it may: every fault at once.

The same rules run twice: in the gate's job over git, and where the answer is posted over GitHub's API. The pull
request is data to them; what stands in the base's checkout (teams, maintainers, problems, the season) is trusted.
What was wrong before and is left alone by the pull request is told apart: it keeps nobody from submitting.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.ci.change import REGULAR, SUBMISSIONS, Change, Commits, Fault, File
from harness.ci.paths import check_files, check_path, check_text, is_readable, is_team_name
from harness.ci.people import NOBODY, Author, Held, Proposed, check_member
from harness.errors import UsageError
from harness.spec import find_problem, load_season
from harness.spec.team import MAX_TEAM_FILE_BYTES, TEAM_FILE
from harness.submission import MAIN

MAX_CHANGES = 400
"""As many files as an author who is no maintainer may change at once."""

MAX_TEAMS = 8
"""As many teams are looked at where the author may change one at most."""

_UNREADABLE = frozenset({"link", "submodule", "not_a_file", "too_large"})
"""Faults of a file without whose mending the submission that it lies in cannot be read."""


@dataclass(frozen=True, order=True)
class Entry:
    """A submission by its place, `submissions/<team>/<folder>`; the folder may be called by an alias of the problem."""

    team: str
    problem: str
    folder: str

    @property
    def path(self) -> str:
        """The submission's folder, from the repository's root."""
        return f"{SUBMISSIONS}/{self.team}/{self.folder}"


@dataclass(frozen=True)
class Proposal:
    """What a pull request comes to.

    Attributes:
        entries: submissions that are new or changed.
        removed: folders of submissions that are there in the base and not at the head.
        files: the head's files of the changed submissions, and what it changes of their teams' own; to be extracted if
            there is no fault.
        changed: the head's files that it changes, of every team that it may change.
        faults: what keeps it from being taken.
        standing: faults of files that lie in the base and that it leaves alone.
    """

    entries: tuple[Entry, ...] = ()
    removed: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    changed: tuple[File, ...] = ()
    faults: tuple[Fault, ...] = ()
    standing: tuple[Fault, ...] = ()


def examine(commits: Commits, root: Path, author: Author, held: Held = NOBODY) -> Proposal:
    """Return what a pull request changes and every fault of its names, files and people; contents are not read.

    Args:
        commits: the pull request.
        root: the base's checkout.
        author: whose it is.
        held: the names of teams that have records, and who holds them.
    """
    changes = commits.changes()
    inside = [change for change in changes if change.path.startswith(f"{SUBMISSIONS}/")]
    if not inside:
        return Proposal()
    faults = [] if author.maintainer else _check_extent(changes)
    teams: dict[str, list[Change]] = {}
    for change in inside:
        of_team = change.path.count("/") >= 2
        if author.maintainer and not of_team:
            continue  # submissions/README.md, say
        fault = check_path(change)
        faults += [fault] if fault else []
        if of_team and is_team_name(change.path.split("/")[1]):
            teams.setdefault(change.path.split("/")[1], []).append(change)
    if len(teams) > 1 and not author.maintainer:
        some = f"{', '.join(sorted(teams)[:MAX_TEAMS])}{' and more' if len(teams) > MAX_TEAMS else ''}"
        faults.append(Fault("several_teams", SUBMISSIONS, f"a pull request is of one team; this one changes {some}"))
        teams = dict(sorted(teams.items())[:MAX_TEAMS])
    parts = [_examine_team(commits, root, author, held, team, changes) for team, changes in sorted(teams.items())]
    ordered = [change.path for change in sorted(changes, key=lambda change: (change.removed, change.path))]
    told = dict.fromkeys([*faults, *(fault for part in parts for fault in part.faults)])
    return Proposal(
        entries=tuple(entry for part in parts for entry in part.entries),
        removed=tuple(path for part in parts for path in part.removed),
        files=tuple(file for part in parts for file in part.files),
        changed=tuple(file for part in parts for file in part.changed),
        faults=tuple(fault.shown_at(ordered) for fault in told),
        standing=tuple(dict.fromkeys(fault for part in parts for fault in part.standing)),
    )


def check_contents(commits: Commits, proposal: Proposal) -> tuple[Fault, ...]:
    """Return what is wrong inside of the files that a proposal changes, other faults or not."""
    made = {fault.path for fault in proposal.faults if fault.reason == "made_file"}  # is to go, whatever it holds
    files = [file for file in proposal.changed if is_readable(file) and file.path not in made]
    files = files[:MAX_CHANGES] if proposal.faults else files  # too many of them may be a fault
    found = [fault for file in files if (fault := check_text(file, commits.content(file)))]
    return tuple(fault.shown_at([fault.path]) for fault in found)


def _check_extent(changes: Sequence[Change]) -> list[Fault]:
    """What an author who is no maintainer changes beyond submissions, or too much of."""
    faults = [
        Fault(
            "outside",
            change.path,
            f"with a submission nothing outside of {SUBMISSIONS}/TEAM/ may be changed: take it out",
        )
        for change in changes
        if not change.path.startswith(f"{SUBMISSIONS}/")
    ]
    if len(changes) > MAX_CHANGES:
        message = f"{len(changes)} files are changed; {MAX_CHANGES} are allowed"
        faults.append(Fault("too_many_files", "", message))
    return faults


def _examine_team(
    commits: Commits, root: Path, author: Author, held: Held, team: str, changes: Sequence[Change]
) -> Proposal:
    place = f"{SUBMISSIONS}/{team}"
    changed = {change.path for change in changes}
    files = commits.head_files(place)
    own = [file for file in files if file.path.count("/") == 2]
    faults = [*check_files(place, own, changed)]
    proposed = Proposed(_team_file(commits, own), f"{place}/{TEAM_FILE}" in changed, gone=not files)
    fault = check_member(root, team, author, proposed, held)
    if fault:
        faults.append(fault)
    if fault and fault.reason in ("other_team", "no_team_file", "held_name"):
        return Proposal(faults=tuple(faults))  # what they hold is not theirs to be told about
    entries, removed, taken = [], [], [file for file in own if file.path in changed]
    fit = [change for change in changes if not check_path(change)]  # the others are told, and name no problem
    for folder in dict.fromkeys(change.path.split("/")[2] for change in fit if change.path.count("/") >= 3):
        path = f"{place}/{folder}"
        here = [file for file in files if file.path.startswith(f"{path}/")]
        if not here:
            removed.append(path)
            continue
        entry, wrong = _examine_folder(root, team, folder, here, changed)
        faults += wrong
        entries += [entry] if entry else []
        taken = [*taken, *here]
    folders = {file.path.split("/")[2] for file in files if file.path.count("/") >= 3}
    standing = {path.name for path in (root / place).glob("*/") if f"{place}/{path.name}" not in removed}
    faults += _check_doubles(root, entries, folders | standing)  # the head may not have what the base has got since
    who = None if author.maintainer else fault  # whose team it is must hold now, wherever the fault lies
    old = [fault for fault in faults if fault is not who and _is_standing(fault, files, changed)]
    return Proposal(
        entries=tuple(sorted(entries)),
        removed=tuple(sorted(removed)),
        files=tuple(taken),
        changed=tuple(file for file in files if file.path in changed),
        faults=tuple(fault for fault in faults if fault not in old),
        standing=tuple(old),
    )


def _is_standing(fault: Fault, files: Sequence[File], changed: Collection[str]) -> bool:
    """Whether a fault is of a file that the pull request leaves as it is, and no submission of its fails by it."""
    if fault.path in changed or not any(file.path == fault.path for file in files):
        return False
    beside_submissions = fault.path.count("/") == 2
    keeps_from_reading = fault.reason in _UNREADABLE or not (fault.path.isascii() and fault.path.isprintable())
    return beside_submissions or not keeps_from_reading


def _examine_folder(
    root: Path, team: str, folder: str, files: Sequence[File], changed: Collection[str]
) -> tuple[Entry | None, list[Fault]]:
    path = f"{SUBMISSIONS}/{team}/{folder}"
    faults = list(check_files(path, files, changed))
    if not any(file.path == f"{path}/{MAIN}" for file in files):
        faults.append(Fault("no_submission", path, f"there is no {MAIN} in it: add it, or remove the folder"))
    season = load_season(root)
    try:
        name = find_problem(root, folder).name
    except UsageError as error:
        return None, [*faults, Fault("unknown_problem", path, str(error))]
    if name not in season.problems:
        message = f"{name} is not in the season; its problems: {', '.join(season.problems)}"
        return None, [*faults, Fault("closed_problem", path, message)]
    return Entry(team, name, folder), faults


def _check_doubles(root: Path, entries: Sequence[Entry], folders: Iterable[str]) -> list[Fault]:
    """Several folders of a team for one problem: under its name and an alias, or under two aliases."""
    by_problem: dict[str, list[str]] = {}
    for folder in sorted(folders):
        with contextlib.suppress(UsageError):  # of no problem
            by_problem.setdefault(find_problem(root, folder).name, []).append(folder)
    faults = []
    for entry in entries:
        others = [folder for folder in by_problem[entry.problem] if folder != entry.folder]
        if others:
            message = f"{entry.problem} has a folder {others[0]} too: keep one of them"
            faults.append(Fault("two_folders", entry.path, message))
    return faults


def _team_file(commits: Commits, own: Iterable[File]) -> bytes | None:
    """Return the head's team.yml; one that is no fit file is as none, and is told by the rules on files."""
    for file in own:
        if file.path.endswith(f"/{TEAM_FILE}") and file.mode == REGULAR and file.size_bytes <= MAX_TEAM_FILE_BYTES:
            return commits.content(file)
    return None
