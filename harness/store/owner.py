"""Which process owns an unfinished record, and whether it still lives.

A process id alone is not an identity: it is reused after a reboot, and sooner. With the boot id, the pid namespace and
the process's start time it is. Where the owner cannot be looked at (another machine, another container), the answer
is "unknown", never "gone". Linux only; elsewhere every owner but ourselves is unknown.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Owner:
    """A process on a machine.

    Attributes:
        host: the machine's (or container's) name.
        boot: the kernel's boot id.
        namespace: the pid namespace that `pid` counts in.
        start: the process's start, in clock ticks since boot; 0 if unknown.
    """

    pid: int
    host: str
    boot: str
    namespace: str
    start: int


def this_process() -> Owner:
    """Return the identity of the calling process."""
    pid = os.getpid()
    _, start = _state_and_start(pid)
    return Owner(pid, socket.gethostname(), _boot_id(), _pid_namespace(), start)


def is_gone(owner: Owner) -> bool | None:
    """Return whether the owner has ended for certain, or None if that cannot be known from here."""
    me = this_process()
    if owner.host == me.host and owner.boot != me.boot:
        return True
    if (owner.boot, owner.namespace) != (me.boot, me.namespace) or not me.boot:
        return False if owner == me else None
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    state, start = _state_and_start(owner.pid)
    return state in ("Z", "X") or bool(start and owner.start and start != owner.start)


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _state_and_start(pid: int) -> tuple[str, int]:
    """Return a process's state letter and start time; ("", 0) if /proc does not show it."""
    try:
        # The command's name stands in parentheses and may hold anything, parentheses too.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], int(fields[19])
    except (OSError, IndexError, ValueError):
        return "", 0
