"""What a caller says to the sandbox and what it gets back: levels, limits, mounts, and how a process ended.

This module owns the words only; it starts nothing and looks at nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

MIB = 1 << 20
SCRATCH = "/scratch"
HOST_DISK = "host_disk"
"""The limit of a process that was stopped because the machine's disk is full, by no doing of its own."""


class Level(str, Enum):
    """How well a process is shut in, best first.

    STRICT: own namespaces (bubblewrap): it sees the mounts, its scratch folder, and nothing else.
    RESTRICTED: Landlock, seccomp, and another uid where the parent is root: it sees the host's names and
        process list, but reads only the mounts, writes only its scratch folder, and has no sockets.
    NONE: resource limits only. For the harness's own code, and for one's own submissions; never ranked.
    """

    STRICT = "strict"
    RESTRICTED = "restricted"
    NONE = "none"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class LevelReport:
    """A level that works on this machine, and why no higher one does: a sentence each, saying what to do."""

    level: Level
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What a process and all its descendants may use together, unless said otherwise.

    Attributes:
        wall_s: seconds from start to end.
        cpu_s: CPU seconds of all processes, or None for no limit of its own.
        memory_bytes: resident memory of all processes; also what one process may allocate, which is refused
            at once by the kernel (MemoryError) and not reported as a limit.
        processes: processes and threads alive at one time (a torch process has a thread per core).
        file_bytes: the largest file that can be written.
        scratch_bytes: everything in the scratch folder, and at level strict also the size of /tmp.
        output_bytes: of standard output and, separately, of standard error.
    """

    wall_s: float
    cpu_s: float | None
    memory_bytes: int
    processes: int
    file_bytes: int
    scratch_bytes: int
    output_bytes: int = MIB


@dataclass(frozen=True)
class Mount:
    """A file or folder that the process may read: `source` on the host, seen as `target` at level strict."""

    source: Path
    target: str


@dataclass(frozen=True)
class Handed:
    """What a process is given beside files to read: for the harness's own programs, never for a submission's.

    Attributes:
        devices: device nodes that it may use, under their own names: say, those of one GPU.
        descriptors: open descriptors of the caller's, kept under their numbers.
    """

    devices: tuple[Path, ...] = ()
    descriptors: tuple[int, ...] = ()


@dataclass(frozen=True)
class Exit:
    """How a sandboxed process ended.

    Attributes:
        code: its exit status, None if a signal ended it.
        signal: the signal that ended it, None if it exited. Claimed by the process: exit(137) reads as signal 9.
        limit: "wall", "cpu", "memory", "output" or "disk" if that limit ended it, `HOST_DISK`, or the reason
            given to `Job.stop`; None if it ended by itself.
        cpu_s: CPU seconds of the whole process tree.
        wall_s: seconds from start to end.
        stderr: the end of its standard error, cleaned.
        peak_memory_bytes: largest memory of the tree that was seen.
    """

    code: int | None
    signal: int | None
    limit: str | None
    cpu_s: float
    wall_s: float
    stderr: str
    peak_memory_bytes: int


def visible(level: Level, mount: Mount) -> str:
    """Return the path under which a process at this level sees a mount."""
    return mount.target if level is Level.STRICT else str(mount.source.absolute())


def visible_scratch(level: Level, scratch: Path) -> str:
    """Return the path under which a process at this level sees its scratch folder."""
    return SCRATCH if level is Level.STRICT else str(scratch.absolute())
