"""Whose are the names of teams that have records: a file beside the records, on the branch that keeps them.

A team that has left is in no checkout any more, but its records are shown for ever, so its name stays its people's. The
file is written by the job that files records, from the default branch as it is just then; no pull request reaches it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from harness.ci.change import REGULAR, SUBMISSIONS
from harness.ci.git import GitCommits, fetch, fetch_branch, run_git
from harness.ci.people import NOBODY, Held
from harness.errors import SpecError, StoreError
from harness.spec.team import MAX_TEAM_FILE_BYTES, TEAM_FILE, parse_team
from harness.store.codec import decode
from harness.strict_json import parse_strict

FILE = "teams.json"


def load_held(root: Path, branch: str, token: str | None) -> Held:
    """Return who holds the names of teams that have records; nobody where `origin` or the branch is missing.

    Args:
        root: a checkout of the base.
        branch: the one that keeps the records.
        token: lets a private repository be read.

    Raises:
        GitError: `origin` cannot be reached.
        StoreError: the file is damaged.
    """
    if b"origin" not in run_git(root, "remote").split():
        return NOBODY
    return read_held(root, fetch_branch(root, branch, token))


def read_held(root: Path, tip: str | None) -> Held:
    """Return what a commit of the records' branch says; nobody where it says nothing.

    Raises:
        StoreError: the file is damaged.
    """
    if tip is None or not run_git(root, "ls-tree", tip, "--", FILE):
        return NOBODY
    try:
        content = run_git(root, "cat-file", "blob", f"{tip}:{FILE}").decode("utf-8")
        return decode(dict[str, tuple[str, ...]], parse_strict(content))
    except (ValueError, StoreError) as error:
        raise StoreError(f"{FILE} of the branch is damaged: {error}") from None


def renew_held(held: Held, teams: Iterable[str], root: Path, token: str | None) -> Held:
    """Return who holds which name now: a team's people today, or the last ones if it has left.

    Args:
        held: what was known.
        teams: those that have records.
        root: a clone; the default branch of its `origin` is asked.
        token: lets a private repository be read.
    """
    people = _find_people(root, token)
    return {team: people.get(team, held.get(team, ())) for team in sorted({*teams, *held})}


def encode_held(held: Held) -> bytes:
    """Return the file."""
    return (json.dumps({team: list(held[team]) for team in sorted(held)}, indent=1) + "\n").encode()


def _find_people(root: Path, token: str | None) -> dict[str, tuple[str, ...]]:
    """Return the logins of every team that the default branch has with a valid team.yml."""
    fetch(root, "HEAD", token)
    tip = run_git(root, "rev-parse", "FETCH_HEAD").decode().strip()
    commits, people = GitCommits(root, tip, tip), {}
    for file in commits.head_files(SUBMISSIONS):
        _, team, *rest = file.path.split("/")
        if rest == [TEAM_FILE] and file.mode == REGULAR and file.size_bytes <= MAX_TEAM_FILE_BYTES:
            with contextlib.suppress(SpecError):  # merged by hand; who held the name before holds it still
                people[team] = parse_team(commits.content(file), file.path).logins
    return people
