"""A pull request as GitHub's API has it: what was said of git, said by the server.

The same view as `git.GitCommits`, for where no commit of the author's is fetched at all. What the server lists is
believed; a listing that it had to cut is refused, so that nothing hides behind the cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.ci.change import SUBMISSIONS, Change, File
from harness.ci.event import FinishedRun
from harness.ci.github import GitHub, GitHubError
from harness.spec.team import MAX_TEAM_FILE_BYTES

MAX_FILES = 3000
"""GitHub lists no more files of a pull request."""


@dataclass(frozen=True)
class OpenPullRequest:
    """An open pull request whose head is the commit that was looked for.

    Attributes:
        changed_files: how many files it changes, as GitHub counts them.
        merge: the commit that merging it would make, as GitHub has tried; None if it has not, or cannot.
    """

    number: int
    author: str
    head: str
    changed_files: int
    merge: str | None


def find_pull_request(api: GitHub, run: FinishedRun) -> OpenPullRequest | None:
    """Return the open pull request that a run was for, None if it is closed or has moved on since.

    Nothing that the run left behind is asked: the branch and the hash are GitHub's own words. The same branch may be
    proposed for another one than the default branch too: that is none of the gate's business.
    """
    for item in api.list("pulls", state="open", head=f"{run.head_owner}:{run.head_branch}"):
        number = _get(item, "number", int)
        # The listing may be older than the pull request, and has no count of files.
        whole = api.get_settled(f"pulls/{number}", lambda document: not _is_being_merged(document))
        into = _get(whole, "base", dict).get("ref")
        at_head = _get(whole, "head", dict).get("sha") == run.head
        if at_head and into == run.default_branch and whole.get("state") == "open":
            author = str(_get(_get(whole, "user", dict), "login", str))
            merge = whole.get("merge_commit_sha") if whole.get("mergeable") is True else None
            return OpenPullRequest(number, author, run.head, int(_get(whole, "changed_files", int)), merge)
    return None


def _is_being_merged(document: Any) -> bool:
    """Whether GitHub is still trying the merge of an open pull request, in the background."""
    return isinstance(document, Mapping) and document.get("state") == "open" and document.get("mergeable") is None


@dataclass(frozen=True)
class ApiCommits:
    """A pull request's two sides through the API (a `Commits`)."""

    api: GitHub
    pull_request: OpenPullRequest

    def changes(self) -> tuple[Change, ...]:
        """Return what the head changes, compared with where it left the base.

        Raises:
            GitHubError: the server does not list every file.
        """
        if self.pull_request.changed_files > MAX_FILES:
            raise GitHubError(f"{self.pull_request.changed_files} files are changed; {MAX_FILES} can be looked at")
        items = list(self.api.list(f"pulls/{self.pull_request.number}/files"))
        if len(items) != self.pull_request.changed_files:
            raise GitHubError(f"{len(items)} of {self.pull_request.changed_files} changed files are listed")
        changes = tuple(change for item in items for change in _parse_changes(item))
        self._expect_nothing_hidden(changes)
        return changes

    def head_files(self, folder: str) -> tuple[File, ...]:
        """Return every file under a folder of the head; none if there is no such folder."""
        sha = self._find_tree(folder)
        if sha is None:
            return ()
        return tuple(_parse_file(item, folder) for item in self._tree(sha, recursive=1) if item.get("type") != "tree")

    def content(self, file: File) -> bytes:
        """Return what a team's own file holds; larger ones are not looked at here."""
        return self.api.blob(file.sha, MAX_TEAM_FILE_BYTES)

    def _expect_nothing_hidden(self, changes: Sequence[Change]) -> None:
        """Compare what is listed with what the merge would do.

        The listing starts where the head left the base. A head that has left it in several places can undo others' work
        without a line in it.
        """
        if not isinstance(self.pull_request.merge, str):
            raise GitHubError("GitHub cannot merge it, or has not tried yet: update the branch")
        commit = self.api.get(f"git/commits/{self.pull_request.merge}")
        parents = [_get(parent, "sha", str) for parent in _get(commit, "parents", list)]
        if len(parents) != 2 or parents[1] != self.pull_request.head:
            raise GitHubError("GitHub's trial merge is of another commit: update the branch")
        before, after = self._two_levels(parents[0]), self._two_levels(self.pull_request.merge)
        for path in sorted(path for path in {*before, *after} if before.get(path) != after.get(path)):
            if not any(change.path == path or change.path.startswith(f"{path}/") for change in changes):
                raise GitHubError(f"merging it changes {path}, which it does not list: rebase it on the base")

    def _two_levels(self, commit: str) -> dict[str, tuple[object, object]]:
        """Return the root's files and folders, and those of submissions/, each with its mode and hash."""
        root = {str(entry.get("path")): entry for entry in self._tree(commit)}
        teams = self._tree(str(root.pop(SUBMISSIONS)["sha"])) if SUBMISSIONS in root else []
        below = {f"{SUBMISSIONS}/{entry.get('path')}": entry for entry in teams}
        return {path: (entry.get("mode"), entry.get("sha")) for path, entry in {**root, **below}.items()}

    def _find_tree(self, folder: str) -> str | None:
        """Return the hash of a folder's tree, None if there is none."""
        sha = self.pull_request.head
        for part in folder.split("/"):
            entry = next((e for e in self._tree(sha) if e.get("path") == part and e.get("type") == "tree"), None)
            if entry is None:
                return None
            sha = str(_get(entry, "sha", str))
        return sha

    def _tree(self, sha: str, **parameters: str | int) -> list[Mapping[str, Any]]:
        document = self.api.get(f"git/trees/{sha}", **parameters)
        entries = _get(document, "tree", list)
        if document.get("truncated") is not False:
            raise GitHubError(f"tree {sha[:12]} has more files than can be listed")
        return [entry for entry in entries if isinstance(entry, Mapping)]


def _parse_changes(item: Any) -> Iterator[Change]:
    """A rename is a file less and a file more."""
    status, path = _get(item, "status", str), str(_get(item, "filename", str))
    if status == "renamed":
        yield Change(str(_get(item, "previous_filename", str)), removed=True)
    yield Change(path, removed=status == "removed")


def _parse_file(item: Mapping[str, Any], folder: str) -> File:
    size = item.get("size")
    path = f"{folder}/{_get(item, 'path', str)}"
    return File(path, str(_get(item, "mode", str)), str(_get(item, "sha", str)), size if isinstance(size, int) else 0)


def _get(document: Any, name: str, kind: type) -> Any:
    value = document.get(name) if isinstance(document, Mapping) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise GitHubError(f"an answer has no {name}")
    return value
