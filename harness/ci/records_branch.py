"""The records of a competition, as files of a branch of their own: one commit per run, nothing ever changed.

Written with git's plumbing into a commit that is pushed; a push that another one has overtaken is made again on top of
it. The branch holds what `filing` let through: its documents are our own.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from harness.ci.git import GitCommits, GitError, credentials, fetch, run_git
from harness.errors import StoreError
from harness.store import Record, decode_record, encode_record

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
        tip = _fetch_tip(root, branch, token)
        kept = _read(root, tip)
        missing = [record for record in new if record.id not in kept]
        if not missing:
            return tuple(kept[key] for key in sorted(kept))
        commit = _commit(root, tip, missing)
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


def _fetch_tip(root: Path, branch: str, token: str | None) -> str | None:
    """Return the branch's last commit, None if there is no such branch."""
    listed = run_git(root, "ls-remote", "origin", f"refs/heads/{branch}", environment=credentials(token)).split()
    if not listed:
        return None
    sha = listed[0].decode()
    fetch(root, sha, token)
    return sha


def _read(root: Path, tip: str | None) -> dict[str, Record]:
    if tip is None:
        return {}
    commits = GitCommits(root, tip, tip)
    records = {}
    for file in commits.head_files(FOLDER):
        try:
            record = decode_record(json.loads(commits.content(file)))
        except (ValueError, StoreError) as error:
            raise StoreError(f"{file.path} of the branch is damaged: {error}") from None
        records[record.id] = record
    return records


def _commit(root: Path, tip: str | None, records: Sequence[Record]) -> str:
    """Return a commit on top of another that has further records."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}  # noqa: PTH118 - a variable's value
        run_git(root, "read-tree", *([tip] if tip else ["--empty"]), environment=index)
        for record in records:
            document = json.dumps(encode_record(record), indent=1).encode()
            blob = run_git(root, "hash-object", "-w", "--stdin", stdin=document).decode().strip()
            entry = f"100644,{blob},{FOLDER}/{record.id}.json"
            run_git(root, "update-index", "--add", "--cacheinfo", entry, environment=index)
        tree = run_git(root, "write-tree", environment=index).decode().strip()
    parents = ["-p", tip] if tip else []
    message = "\n".join(f"{r.team} {r.problem} {r.target}: {r.kind}" for r in records)
    return run_git(root, "commit-tree", tree, *parents, "-m", message, environment=_AUTHOR).decode().strip()
