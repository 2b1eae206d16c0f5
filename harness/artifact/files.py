"""Reading an artifact's folder, which is hostile: nothing outside of it, nothing twice, and within bounds.

Folders and files are opened from the folder's own descriptor and links are not followed, so that no name leads out.
Each file is read once: what was hashed is what is parsed. All files together have a budget of bytes by kind, and JSON
documents one of values, which bound the memory and the time of a load whatever the files hold.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import ArtifactError
from harness.strict_json import parse_strict

MAX_BYTES = {"json": 8 << 20, "ttir": 24 << 20, "py": 8 << 20, "cubin": 48 << 20}
"""Bytes of all files of a kind together."""

MAX_VALUES = 1 << 19
"""Values in all JSON documents together: up to 150 bytes of memory each."""

_LONGEST_NUMBER = 40


class ArtifactFiles:
    """The files of one folder, read within a common budget."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self._name = folder.name
        self._descriptor = descriptor
        self._folders: dict[str, int] = {}
        self._left_bytes = dict(MAX_BYTES)
        self._left_values = MAX_VALUES

    def close(self) -> None:
        """Close the folders."""
        for descriptor in (*self._folders.values(), self._descriptor):
            os.close(descriptor)

    def read(self, name: str, most_bytes: int) -> bytes:
        """Read a file, "kind/name.ext" or "name.ext".

        Raises:
            ArtifactError: missing, a link, no regular file, or larger than it or its kind may be.
        """
        parent, _, base = name.rpartition("/")
        kind = base.rpartition(".")[2]
        most_bytes = min(most_bytes, self._left_bytes[kind])
        try:
            descriptor = os.open(base, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._open(parent))
        except OSError as error:
            raise ArtifactError(f"artifact: {name}: {error.strerror}") from None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ArtifactError(f"artifact: {name} is not a regular file")
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(most_bytes + 1) if status.st_size <= most_bytes else None
        finally:
            os.close(descriptor)
        if content is None or len(content) > most_bytes:
            raise ArtifactError(f"artifact: {name} has more than the {most_bytes:,} bytes that it or its kind may have")
        self._left_bytes[kind] -= len(content)
        return content

    def parse_json(self, name: str, content: bytes) -> Any:
        """Parse a document that `read` returned; names once only, numbers finite.

        Raises:
            ArtifactError: not JSON, or of more values than all documents together may have.
        """
        self._left_values -= content.count(b",") + content.count(b"[") + content.count(b"{") + 1
        if self._left_values < 0:
            raise ArtifactError(f"artifact: the documents up to {name} hold more than {MAX_VALUES:,} values")
        try:
            return parse_strict(decode(name, content), parse_int=_integer, parse_float=_finite)
        except ValueError:
            raise ArtifactError(f"artifact: {name} is not JSON") from None

    def _open(self, folder: str) -> int:
        if folder and folder not in self._folders:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            self._folders[folder] = os.open(folder, flags, dir_fd=self._descriptor)
        return self._folders[folder] if folder else self._descriptor


@contextmanager
def open_files(folder: Path) -> Iterator[ArtifactFiles]:
    """Open an artifact's folder.

    Raises:
        ArtifactError: there is no such folder.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (OSError, ValueError) as error:
        raise ArtifactError(f"artifact {folder.name}: {getattr(error, 'strerror', None) or error}") from None
    files = ArtifactFiles(folder, descriptor)
    try:
        yield files
    finally:
        files.close()


def decode(name: str, content: bytes) -> str:
    """Return a file's text.

    Raises:
        ArtifactError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ArtifactError(f"artifact: {name} is not UTF-8 text") from None


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("a number of too many digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number that is too large")
    return value
