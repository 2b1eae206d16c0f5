"""What a pull request is made of, read as data: changes, files, and what is wrong with them. Pure.

`Commits` is the one view that the rules have of a pull request: git gives it in the gate's job, GitHub's API where the
answer is written, so that both hold the same rules against it. Every name and content in it is the author's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

SUBMISSIONS = "submissions"

REGULAR = "100644"
EXECUTABLE = "100755"
LINK = "120000"
SUBMODULE = "160000"


@dataclass(frozen=True)
class Change:
    """One file that differs between the base and the head; a rename is a file less and a file more.

    Attributes:
        path: from the repository's root, as it is in git (undecodable bytes as surrogates).
        removed: it is not there at the head.
    """

    path: str
    removed: bool


@dataclass(frozen=True)
class File:
    """One file of the head's tree.

    Attributes:
        mode: as git writes it: `REGULAR`, `EXECUTABLE`, `LINK`, `SUBMODULE`.
        sha: names the content.
        size_bytes: of the content, 0 where there is none.
    """

    path: str
    mode: str
    sha: str
    size_bytes: int


@dataclass(frozen=True)
class Fault:
    """One thing that keeps a pull request from being taken.

    Attributes:
        reason: a code for machines.
        path: the file or folder at fault.
        message: what is wrong and what to do.
        file: the file to show it at, for an annotation needs one; "" for what is of no file.
    """

    reason: str
    path: str
    message: str
    file: str = ""

    def shown_at(self, paths: Sequence[str]) -> Fault:
        """Return this with the file to show it at: its own, or the first of its folder or of one further up.

        Args:
            paths: the files that the pull request changes, the best to show first.
        """
        if not self.path or self.path in paths:
            return replace(self, file=self.path)
        folder = self.path
        while folder:
            if file := next((path for path in paths if path.startswith(f"{folder}/")), None):
                return replace(self, file=file)
            folder = folder.rpartition("/")[0]
        return self


class Commits(Protocol):
    """A pull request's two sides."""

    def changes(self) -> tuple[Change, ...]:
        """Return what the head changes, compared with where it left the base."""

    def head_files(self, folder: str) -> tuple[File, ...]:
        """Return every file under a folder of the head; none if there is no such folder."""

    def content(self, file: File) -> bytes:
        """Return what a file of the head holds; ask for its size first."""
