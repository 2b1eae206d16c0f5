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


class Turn:
    """A hold on a GPU.

    Args:
        descriptor: of the lock, None where it can't be had.
        waiting, resumed: are called before and after it waits for another replay.
        shared: others that share may be at work at the same time.

    Attributes:
        held: there is a lock to hold.
    """

    def __init__(
        self, descriptor: int | None, waiting: Callable[[], None], resumed: Callable[[], None], *, shared: bool
    ) -> None:
        self.held, self.shared = descriptor is not None, shared
        self._descriptor, self._waiting, self._resumed = descriptor, waiting, resumed
        self._lock()

    def have_alone(self) -> None:
        """Wait until nobody else is at work. Whoever shares and waits for this gives its hold up first."""
        if self.shared:
            self.shared = False
            self._lock()

    def _lock(self) -> None:
        if self._descriptor is None:
            return
        kind = fcntl.LOCK_SH if self.shared else fcntl.LOCK_EX
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except OSError:
            self._waiting()
            fcntl.flock(self._descriptor, kind)
            self._resumed()


@contextlib.contextmanager
def take_turn(
    gpu: str,
    waiting: Callable[[], None],
    folder: Path | None = None,
    *,
    resumed: Callable[[], None] = lambda: None,
    shared: bool = False,
) -> Iterator[Turn]:
    """Hold the lock of a GPU.

    Args:
        gpu: its name, the same in every process.
        waiting: is called if another replay is at work.
        folder: where the lock lies; the machine's folder for temporary files by default.
        resumed: is called when the other has ended.
        shared: nothing is timed, so others that share may run at the same time.
    """
    name = re.sub(r"[^A-Za-z0-9-]", "_", gpu)[:80] or "first"
    descriptor = _open(Path(folder or tempfile.gettempdir()) / f"harness-{name}.lock")
    try:
        yield Turn(descriptor, waiting, resumed, shared=shared)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open(path: Path) -> int | None:
    """Open the lock for reading, which is enough to lock it; another user's is as good as an own one."""
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_CREAT):
        with contextlib.suppress(OSError):
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    return None
