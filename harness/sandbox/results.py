"""Reads what a sandboxed process left in its scratch folder, as hostile data.

It trusts the folder's own path and nothing in it: no link is followed, only regular files are opened, and no
more is read than was asked for. What the bytes mean is the caller's business, and just as hostile.
"""

# Works on descriptors and on names that pathlib would normalise.
# ruff: noqa: PTH101, PTH114, PTH118

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import WorkerError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_result(scratch: Path, name: str, max_bytes: int) -> bytes:
    """Return the content of a file in a scratch folder.

    Args:
        scratch: the folder.
        name: the file's name relative to it, "/" between folders.
        max_bytes: the largest content to accept.

    Raises:
        WorkerError: there is no such regular file, or it is too large.
        ValueError: the name is absolute, or holds "..", an empty part or NUL.
    """
    *folders, last = parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise ValueError(f"not a name of a result: {name!r}")
    try:
        with _opened(os.open(scratch, _FOLDER)) as folder:
            return _read_below(folder, folders, last, max_bytes)
    except OSError as error:
        raise WorkerError(f"result {name} cannot be read: {error.strerror}") from error


def _read_below(folder: int, folders: list[str], last: str, max_bytes: int) -> bytes:
    if folders:
        with _opened(os.open(folders[0], _FOLDER, dir_fd=folder)) as below:
            return _read_below(below, folders[1:], last, max_bytes)
    with _opened(os.open(last, _FILE, dir_fd=folder)) as file:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise WorkerError(f"result {last} is not a plain file")
        if status.st_size > max_bytes:
            raise WorkerError(f"result {last} has {status.st_size} bytes, {max_bytes} at most")
        with open(file, "rb", closefd=False) as stream:
            data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise WorkerError(f"result {last} has more than {max_bytes} bytes")
    return data


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def remove_tree(folder: Path) -> None:
    """Remove a folder that a sandboxed process has written in, whatever modes it gave; a missing one is fine."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.is_symlink() and folder.is_dir():
        for path, names, _ in os.walk(folder):
            os.chmod(path, 0o700)
            for name in names:
                below = os.path.join(path, name)
                if not os.path.islink(below):
                    os.chmod(below, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
