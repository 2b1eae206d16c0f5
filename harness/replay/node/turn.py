"""Taking turns on a GPU: two replays at once would time each other. Those that time nothing may run together.

One lock a machine and GPU, an empty file in the folder for temporary files. Whoever cannot have the lock at all (a
folder that cannot be written) goes on without: the clocks' own checks remain. Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def take_turn(
    gpu: str, waiting: Callable[[], None], folder: Path | None = None, *, shared: bool = False
) -> Iterator[bool]:
    """Hold the lock of a GPU; yields whether it could be had.

    Args:
        gpu: its name, the same in every process.
        waiting: is called once if another replay is at work.
        folder: where the lock lies; the machine's folder for temporary files by default.
        shared: nothing is timed, so others that share may run at the same time.
    """
    name = re.sub(r"[^A-Za-z0-9-]", "_", gpu)[:80] or "first"
    descriptor = _open(Path(folder or tempfile.gettempdir()) / f"harness-{name}.lock")
    if descriptor is None:
        yield False
        return
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError:
            waiting()
            fcntl.flock(descriptor, kind)
        yield True
    finally:
        os.close(descriptor)


def _open(path: Path) -> int | None:
    """Open the lock for reading, which is enough to lock it; another user's is as good as an own one."""
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_CREAT):
        with contextlib.suppress(OSError):
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    return None
