"""Starts a sandboxed process: what the launcher is told, and how its start is awaited.

The parent's environment and descriptors never reach the process: its environment is `environment` on top of
a fixed few, its descriptors are the three standard ones.
"""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import os
import resource
import select
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import SandboxError
from harness.sandbox import kernel
from harness.sandbox.contract import Handed, Level, Limits, Mount
from harness.sandbox.seccomp import build_filter
from harness.sandbox.starting import start_launcher
from harness.sandbox.strict import strict_command

_SYSTEM_PATHS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"),
    *("/dev/urandom", "/dev/random", "/dev/zero", "/dev/null", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu"),
)
PRIVATE_HOME = ".home"
_MOST_FILES = 4096
_LAUNCH_S = 20.0
_END_S = 5.0


@dataclass
class Spawned:
    """A started launcher, a child of ours to wait for, and what is needed to follow and to end it."""

    pid: int
    level: Level
    lifeline: int
    stdout: int
    stderr: int

    def kill(self) -> None:
        """Have the watchers kill the whole tree, and end."""
        _cut(self.lifeline)

    def close(self, *, killed: bool) -> None:
        """Give up the tree after the launcher's end; if that was killed, wait until the other watcher has ended all."""
        if killed:
            _end(self.lifeline)
        os.close(self.lifeline)


def spawn(
    command: Sequence[str],
    level: Level,
    mounts: Sequence[Mount],
    scratch: Path,
    limits: Limits,
    environment: Mapping[str, str],
    stdin: bytes | int,
    handed: Handed,
) -> Spawned:
    """Start `command`; return once it runs.

    Raises:
        SandboxError: a mount, a device or the scratch folder is missing, or the sandbox could not be made.
    """
    for path in (*(mount.source for mount in mounts), *handed.devices, scratch):
        if not path.exists():
            raise SandboxError(f"cannot start a sandboxed process: {path} does not exist")
    scratch.chmod(0o700)
    with ExitStack() as stack:
        filter_fd = -1
        if level is not Level.NONE:
            rules = build_filter(level, signals=_signals_stay_inside(level), drivers=bool(handed.devices))
            filter_fd = _file(rules, stack)
        variables = _environment(level, scratch, environment)
        request: dict[str, Any] = {
            "level": level.value,
            "parent": os.getpid(),
            "drop": level is not Level.NONE,
            "scratch": str(scratch.absolute()),
            "paths": [str(mount.source.absolute()) for mount in mounts],
            "system": list(_SYSTEM_PATHS),
            "devices": [str(device) for device in handed.devices],
            "limits": _rlimits(limits),
            "processes": limits.processes,
            "argv": list(command),
            "environment": variables,
            "filter": filter_fd,
            "kept": [descriptor for descriptor in (filter_fd, *handed.descriptors) if descriptor >= 0],
        }
        if level is Level.STRICT:
            request["argv"] = strict_command(command, mounts, scratch, limits, variables, filter_fd, handed.devices)
            request["environment"] = {}  # bubblewrap's own; the command line says the command's
        source = _file(stdin, stack) if isinstance(stdin, bytes) else stdin
        return _launch(request, level, source)


def _launch(request: Mapping[str, Any], level: Level, stdin: int) -> Spawned:
    with ExitStack() as ours:
        with ExitStack() as theirs:
            ready, ready_end = _pipe(ours, theirs)
            lifeline_end, lifeline = _pipe(theirs, ours)
            output, output_end = _pipe(ours, theirs)
            errors, errors_end = _pipe(ours, theirs)
            told = _file(marshal.dumps(dict(request)), theirs)
            try:
                pid = start_launcher([told, ready_end, lifeline_end, stdin, output_end, errors_end, *request["kept"]])
            except OSError as error:
                raise SandboxError(f"cannot start a sandboxed process: {error}") from error
        spawned = Spawned(pid, level, lifeline, output, errors)
        with contextlib.suppress(BrokenPipeError):  # it will have said why
            os.write(lifeline, b"!")
        complaint = _read_complaint(ready)
        if complaint:
            _give_up(pid, lifeline)
            raise SandboxError(f"cannot start a sandboxed process: {complaint}")
        ours.pop_all()
    os.close(ready)
    return spawned


def _cut(lifeline: int) -> None:
    """Tell the watchers to end all: by a second byte, since something that we forked may keep our end open."""
    with contextlib.suppress(BrokenPipeError):  # they have ended
        os.write(lifeline, b"!")


def _end(lifeline: int) -> None:
    """Tell the watchers to end all, and wait until none has the other end: a while at most."""
    _cut(lifeline)
    poll = select.poll()
    poll.register(lifeline, 0)
    poll.poll(_END_S * 1e3)


def _give_up(pid: int, lifeline: int) -> None:
    """End a launcher that has not begun, with all that it may have started; by force if it does not answer."""
    _end(lifeline)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed with these."""
    reading, writing = map(_beyond_standard, os.pipe())
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _read_complaint(ready: int) -> str:
    """Wait until the launcher has become the command; or return why it did not, empty if it did."""
    poll = select.poll()
    poll.register(ready, select.POLLIN)
    if not poll.poll(_LAUNCH_S * 1e3):
        return f"it has not begun after {_LAUNCH_S:g} s"
    return os.read(ready, 4096).decode(errors="replace")


def _file(content: bytes, stack: ExitStack) -> int:
    """An anonymous file with this content, open for reading only."""
    writable = os.memfd_create("sandbox")
    with os.fdopen(writable, "wb") as file:
        file.write(content)
        file.flush()
        descriptor = _beyond_standard(os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC))
    stack.callback(os.close, descriptor)
    return descriptor


def _beyond_standard(descriptor: int) -> int:
    """Move a descriptor off the standard three numbers, free in a harness that was started with those closed."""
    if descriptor > 2:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(descriptor)


def _signals_stay_inside(level: Level) -> bool:
    return level is Level.STRICT or os.geteuid() == 0 or kernel.landlock_abi() >= kernel.SIGNAL_SCOPE_ABI


def _environment(level: Level, scratch: Path, extra: Mapping[str, str]) -> dict[str, str]:
    home = "/tmp"  # noqa: S108  (its own)
    if level is not Level.STRICT:
        folder = scratch.absolute() / PRIVATE_HOME
        folder.mkdir(exist_ok=True)
        home = str(folder)
    return {
        "HOME": home,
        "TMPDIR": home,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        **extra,
    }


def _rlimits(limits: Limits) -> list[tuple[int, int]]:
    """Per process. The data limit, not the address space: torch and CUDA reserve far more than they use."""
    values = [
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ]
    if limits.cpu_s is not None:
        values.append((resource.RLIMIT_CPU, int(limits.cpu_s) + 2))  # behind the watch over the tree
    return values
