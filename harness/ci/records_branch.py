"""The records of a competition, as files of a branch of their own: one commit per run, no record ever changed.

Written with git's plumbing into a commit that is pushed; a push that another one has overtaken is made again on top of
it. The branch holds what `filing` let through, and who holds the teams' names: its documents are our own.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from harness.ci.git import GitCommits, GitError, credentials, fetch_branch, run_git
from harness.ci.held_names import FILE, encode_held, read_held, renew_held
from harness.errors import StoreError
from harness.store import Record, decode_record, encode_record
from harness.strict_json import parse_strict

FOLDER = "records"
ATTEMPTS = 8
PAUSE_S = 0.2
_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "github-actions[bot]"),
        ("EMAIL", "41898282+github-actions[bot]@users.noreply.github.com"),
    )
}


def add_records(root: Path, branch: str, new: Sequence[Record], token: str | None) -> tuple[Record, ...]:
    """Push records to a branch of `origin` and return all that it holds then, the oldest first.

    Args:
        root: a repository.
        branch: made if need be, with nothing but records in it.
        new: records that it may have already: those are left as they are.
        token: lets git push.

    Raises:
        GitError: it cannot be pushed, again and again.
    """
    for attempt in range(1, ATTEMPTS + 1):
        tip = fetch_branch(root, branch, token)
        kept, held = _read(root, tip), read_held(root, tip)
        missing = [record for record in new if record.id not in kept]
        teams = {record.team for record in (*kept.values(), *missing)}
        renewed = renew_held(held, teams, root, token)  # after the tip: whoever pushes last has asked last
        if not missing and renewed == held:
            return tuple(kept[key] for key in sorted(kept))
        commit = _commit(root, tip, missing, encode_held(renewed))
        try:
            run_git(root, "push", "--quiet", "origin", f"{commit}:refs/heads/{branch}", environment=credentials(token))
        except GitError:
            if attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE_S * attempt)  # somebody was faster
            continue
        kept |= {record.id: record for record in missing}
        return tuple(kept[key] for key in sorted(kept))
    raise AssertionError


def load_branch(root: Path, branch: str, token: str | None) -> tuple[Record, ...]:
    """Return all records that a branch of `origin` holds, the oldest first; none if there is no such branch.

    Raises:
        GitError: `origin` cannot be reached.
        StoreError: a record is damaged.
    """
    kept = _read(root, fetch_branch(root, branch, token))
    return tuple(kept[key] for key in sorted(kept))


def _read(root: Path, tip: str | None) -> dict[str, Record]:
    if tip is None:
        return {}
    commits = GitCommits(root, tip, tip)
    records = {}
    for file in commits.head_files(FOLDER):
        try:
            record = decode_record(parse_strict(commits.content(file).decode("utf-8")))
        except (ValueError, StoreError) as error:
            raise StoreError(f"{file.path} of the branch is damaged: {error}") from None
        records[record.id] = record
    return records


def _commit(root: Path, tip: str | None, records: Sequence[Record], holders: bytes) -> str:
    """Return a commit on top of another that has further records, and says who holds the names of teams."""
    files = {f"{FOLDER}/{record.id}.json": json.dumps(encode_record(record), indent=1).encode() for record in records}
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}  # noqa: PTH118 - a variable's value
        run_git(root, "read-tree", *([tip] if tip else ["--empty"]), environment=index)
        for path, document in {**files, FILE: holders}.items():
            blob = run_git(root, "hash-object", "-w", "--stdin", stdin=document).decode().strip()
            run_git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", environment=index)
        tree = run_git(root, "write-tree", environment=index).decode().strip()
    parents = ["-p", tip] if tip else []
    message = "\n".join(f"{r.team} {r.problem} {r.target}: {r.kind}" for r in records) or "People of teams"
    return run_git(root, "commit-tree", tree, *parents, "-m", message, environment=_AUTHOR).decode().strip()
