"""A pull request as git has it: two commits, compared and read without ever being checked out.

The head's objects are the author's. They are fetched with git's own checks of their form, listed with plumbing commands
that obey no attribute, filter or configuration of the repository's, and read by their hashes.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.ci.change import Change, File
from harness.errors import HarnessError, UsageError

TIMEOUT_S = 300
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class GitError(HarnessError):
    """Git did not do what it was asked."""


@dataclass(frozen=True)
class GitCommits:
    """A pull request's two sides in a repository (a `Commits`).

    Attributes:
        root: the repository.
        start: where the head left the base.
        head: the pull request's last commit.
    """

    root: Path
    start: str
    head: str

    def changes(self) -> tuple[Change, ...]:
        """Return what the head changes, compared with where it left the base."""
        # A submodule's own .gitmodules may ask to be ignored; renames are told as a file less and a file more.
        options = ("-r", "-z", "--name-status", "--no-renames", "--ignore-submodules=none")
        fields = _split(run_git(self.root, "diff-tree", *options, self.start, self.head, "--"))
        pairs = zip(fields, fields, strict=True)
        return tuple(Change(path, removed=status == "D") for status, path in pairs)

    def head_files(self, folder: str) -> tuple[File, ...]:
        """Return every file under a folder of the head; none if there is no such folder."""
        lines = _split(
            run_git(self.root, "ls-tree", "-r", "-z", "--long", "--full-tree", self.head, "--", f"{folder}/")
        )
        return tuple(_parse_file(line) for line in lines)

    def content(self, file: File) -> bytes:
        """Return what a file of the head holds."""
        return run_git(self.root, "cat-file", "blob", file.sha)


def open_commits(root: Path, base: str, head: str, token: str | None = None) -> GitCommits:
    """Return a pull request's two sides; what is missing of the head is fetched from `origin`.

    Args:
        root: a repository that has the base with its history.
        base: full hash of the base branch's last commit.
        head: full hash of the pull request's.
        token: lets a private repository be read; it is in no argument and no file.

    Raises:
        UsageError: a hash is none, or the commits have no history in common.
        GitError: the head cannot be fetched.
    """
    for sha in (base, head):
        if not _SHA.fullmatch(sha):
            raise UsageError(f"{sha[:80]!r} is not the full hash of a commit")
    if not has_commit(root, head):
        fetch(root, head, token)
    try:
        starts = run_git(root, "merge-base", "--all", base, head).decode().split()
    except GitError:
        starts = []
    if not starts:
        raise UsageError(
            f"{base[:12]} and {head[:12]} have no history in common here: check out the base with `fetch-depth: 0`"
        )
    if len(starts) > 1:  # what a merge undoes of one side does not show in a comparison with the other
        raise UsageError(f"{head[:12]} has left the base in {len(starts)} places: rebase it on the base")
    return GitCommits(root, starts[0], head)


def expect_checkout(root: Path, sha: str, paths: Sequence[str]) -> None:
    """Hold a checkout against the commit that it has to be of.

    Args:
        root: the checkout.
        sha: full hash of the commit.
        paths: what must lie there as it is in the commit, from the root.

    Raises:
        UsageError: it is of another commit, or something in these paths is not as it was committed.
    """
    here = run_git(root, "rev-parse", "HEAD").decode().strip()
    if here != sha:
        raise UsageError(
            f"this checkout is at {here[:12]} and not at the base, {sha[:12]}, whose season and problems count: "
            f"`git checkout --detach {sha}` first"
        )
    states = [*_split(run_git(root, "status", "--porcelain", "-z", "--no-renames", "--", *paths))]
    if states:
        raise UsageError(
            f"this checkout is not as the base was committed ({states[0][3:]}{', and more' if states[1:] else ''}): "
            "make a fresh one for each pull request, `git worktree add --detach FOLDER BASE`"
        )


def has_commit(root: Path, sha: str) -> bool:
    """Tell whether a commit is here."""
    try:
        run_git(root, "cat-file", "-e", f"{sha}^{{commit}}")
    except GitError:
        return False
    return True


def fetch(root: Path, ref: str, token: str | None = None) -> None:
    """Fetch a commit or branch from `origin`, without tags, submodules or a checkout.

    Raises:
        GitError: it is not there, or it is not well-formed.
    """
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
    run_git(root, "-c", "fetch.fsckObjects=true", "fetch", *options, "origin", ref, environment=credentials(token))


def fetch_branch(root: Path, branch: str, token: str | None = None) -> str | None:
    """Fetch a branch of `origin` and return its last commit, None if there is no such branch.

    Raises:
        GitError: `origin` cannot be reached.
    """
    listed = run_git(root, "ls-remote", "origin", f"refs/heads/{branch}", environment=credentials(token)).split()
    if not listed:
        return None
    sha = listed[0].decode()
    fetch(root, sha, token)
    return sha


def credentials(token: str | None) -> dict[str, str]:
    """Return environment variables that give git a token for https, none if there is no token."""
    if not token:
        return {}
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/.extraheader",
        "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {basic}",
    }


def run_git(
    root: Path, *arguments: str, stdin: bytes | None = None, environment: Mapping[str, str] | None = None
) -> bytes:
    """Run git in a repository and return what it printed.

    Raises:
        GitError: it failed, or took too long; the message holds what it said.
    """
    command = ["git", "-C", str(root), *arguments]
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            input=stdin if stdin is not None else b"",
            capture_output=True,
            env={**os.environ, **quiet, **(environment or {})},
            timeout=TIMEOUT_S,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took more than {TIMEOUT_S} s") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-1000:]
        raise GitError(f"git {' '.join(a for a in arguments if not a.startswith('-'))[:200]}: {said}")
    return done.stdout


def _split(listing: bytes) -> Iterator[str]:
    """Return the fields of a listing that NULs end."""
    return iter([field.decode("utf-8", "surrogateescape") for field in listing.split(b"\0")[:-1]])


def _parse_file(line: str) -> File:
    facts, _, path = line.partition("\t")
    mode, _, sha, size = facts.split()
    return File(path, mode, sha, int(size) if size.isdigit() else 0)
