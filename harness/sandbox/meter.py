"""What a process tree has used: CPU seconds, memory, and the disk under its scratch folder.

The tree is hostile and changes while it is read: whatever has ended meanwhile is skipped, CPU time that was
once seen is never lost, and a folder that cannot be measured counts as too large. CPU time of a process that
starts and ends between two samples is seen in whoever waits for it, or, to a tick, in its zombie: under the
filter of `seccomp` nobody can have the end of its children pass unheard.
"""

# Works on descriptors and /proc names, ten times a second.
# ruff: noqa: PTH116, PTH123, PTH208

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_ENTRY_BYTES = 4096  # what an empty file costs, so that a million of them are seen
_INODE_BYTES = 1024
_DEEPEST = 64
_MOST_PROCESSES = 4096
_WATCHERS = 2


@dataclass(frozen=True)
class Usage:
    """A sample of a tree: CPU seconds since its start, bytes of memory now."""

    cpu_s: float
    memory_bytes: int


class Meter:
    """Measures the tree under one process. Safe to call from several threads."""

    def __init__(self, root: int, memory_folders: Sequence[str] = ()) -> None:
        """Measure the tree under `root`, a launcher's; as memory also the folders that bubblewrap's child has there."""
        self._root = root
        self._folders = memory_folders
        self._lock = threading.Lock()
        self._own_ticks: dict[tuple[int, int], int] = {}
        self._ticks = 0

    def sample(self) -> Usage:
        """Measure now. After the tree has ended: the last CPU time, no memory."""
        with self._lock:
            pids = [self._root, *descendants(self._root)]
            with_children = 0
            for pid in pids:
                times = _times_of(pid)
                if times is not None:
                    started, own, waited_for = times
                    self._own_ticks[pid, started] = own
                    with_children += own + waited_for
            self._ticks = max(self._ticks, with_children, sum(self._own_ticks.values()))
            return Usage(self._ticks / _TICKS_PER_S, self._memory_of(pids, _memory_of))

    def shared_memory_bytes(self) -> int:
        """Measure memory as `sample` does, but count a page that processes share once. Slow."""
        with self._lock:
            return self._memory_of([self._root, *descendants(self._root)], _proportional_memory_of)

    def nameless_bytes(self, folder: Path) -> int:
        """Measure the open files on a folder's file system that have no name any more: deleted, but still there."""
        try:
            device = os.stat(folder).st_dev
        except OSError:
            return 0
        with self._lock:
            found: dict[int, int] = {}
            for pid in descendants(self._root):
                for status in _open_files(pid):
                    if status.st_dev == device and status.st_nlink == 0:
                        found[status.st_ino] = status.st_blocks * 512
            return sum(found.values())

    def _memory_of(self, pids: Sequence[int], measure: Callable[[int], tuple[int, int]]) -> int:
        private, shared = 0, 0
        for pid in pids:
            own, common = measure(pid)
            private += own
            shared += common
        # What lies in the folders and is mapped as well is in both counts.
        return private + max(shared, self._folder_bytes())

    def _folder_bytes(self) -> int:
        child = self._shut_in()
        total = 0
        for folder in self._folders if child is not None else ():
            path = f"/proc/{child}/root{folder}"
            try:
                if os.stat(path).st_dev == os.stat(folder).st_dev:
                    continue  # not shut in yet: what it sees is the host's own, a disk as like as not
                status = os.statvfs(path)
            except OSError:
                continue  # it has ended, or not yet begun
            total += (status.f_blocks - status.f_bfree) * status.f_frsize
            total += (status.f_files - status.f_ffree) * _INODE_BYTES
        return total

    def _shut_in(self) -> int | None:
        """Return bubblewrap's child, None if there is none: under the first watcher are the second and bubblewrap."""
        pid = self._root
        for _ in range(_WATCHERS + 1):
            children = children_of(pid)
            if not children:
                return None
            pid = children[0]
        return pid


def descendants(root: int) -> list[int]:
    """Return the processes under `root`, without it."""
    found: list[int] = []
    pending = [root]
    while pending and len(found) < _MOST_PROCESSES:
        children = children_of(pending.pop())
        found += children
        pending += children
    return found


def children_of(pid: int) -> list[int]:
    """Return a process's children, none if it has ended."""
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            children += map(int, _read(f"/proc/{pid}/task/{task}/children").split())
    except OSError:
        pass
    return children


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _times_of(pid: int) -> tuple[int, int, int] | None:
    """A process's start, its own CPU ticks, and those of the children it has waited for."""
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    except OSError:
        return None
    user, system, children_user, children_system = map(int, fields[11:15])
    return int(fields[19]), user + system, children_user + children_system


def _memory_of(pid: int) -> tuple[int, int]:
    """A process's private and shared memory, resident; file pages, which can be dropped, do not count."""
    path = f"/proc/{pid}/status"
    return _bytes_at(path, "RssAnon:") or 0, _bytes_at(path, "RssShmem:") or 0


def _proportional_memory_of(pid: int) -> tuple[int, int]:
    path = f"/proc/{pid}/smaps_rollup"
    private, shared = _bytes_at(path, "Pss_Anon:"), _bytes_at(path, "Pss_Shmem:")
    return _memory_of(pid) if private is None or shared is None else (private, shared)


def _bytes_at(path: str, name: str) -> int | None:
    try:
        lines = _read(path).splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _open_files(pid: int) -> Iterator[os.stat_result]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return  # it has ended, or does not let us look
    for name in names:
        try:
            yield os.stat(f"{folder}/{name}")
        except OSError:
            continue


def folder_bytes(folder: Path, most: int) -> int:
    """Return the disk space under a folder, or something above `most` as soon as it must be more."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return most + 1
    try:
        return _measure(descriptor, most, _DEEPEST)
    finally:
        os.close(descriptor)


def _measure(folder: int, most: int, depth: int) -> int:
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            total += _ENTRY_BYTES + status.st_blocks * 512
            if stat.S_ISDIR(status.st_mode):
                total += _measure_below(folder, entry.name, most, depth)
            if total > most:
                break
    return total


def _measure_below(folder: int, name: str, most: int, depth: int) -> int:
    if depth == 0:
        return most + 1
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return 0  # it went, or became something else, while we looked
    except OSError:
        return most + 1
    try:
        return _measure(descriptor, most, depth - 1)
    finally:
        os.close(descriptor)


def free_bytes(folder: Path) -> int:
    """Return the free space of the file system that holds a folder."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize
