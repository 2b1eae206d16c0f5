"""Starts a sandboxed process: what the launcher is told, and the thread that starts it.

The parent's environment and descriptors never reach the process: its environment is `environment` on top of
a fixed few, its descriptors are the three standard ones.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import SandboxError
from harness.sandbox import kernel
from harness.sandbox.contract import Handed, Level, Limits, Mount
from harness.sandbox.meter import children_of
from harness.sandbox.seccomp import build_filter
from harness.sandbox.strict import strict_command

_LAUNCHER = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import launcher; launcher.main()"
_SYSTEM_PATHS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"),
    *("/dev/urandom", "/dev/random", "/dev/zero", "/dev/null", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu"),
)
PRIVATE_HOME = ".home"
_MOST_FILES = 4096
_LAUNCH_S = 20.0

# bubblewrap's --die-with-parent means the thread that started it: start from one that lives as long as we do.
_starter = ThreadPoolExecutor(1, "sandbox-starter")


def _renew_starter() -> None:
    global _starter
    _starter = ThreadPoolExecutor(1, "sandbox-starter")


os.register_at_fork(after_in_child=_renew_starter)  # a forked child has no threads but its first


@dataclass
class Spawned:
    """A started launcher and what is needed to follow and to end it."""

    process: subprocess.Popen[bytes]
    level: Level
    lifeline: int

    def kill(self) -> None:
        """Kill the whole tree. Only the first call does something."""
        if self.lifeline < 0:
            return
        os.close(self.lifeline)  # below strict, the launcher kills everything and ends
        self.lifeline = -1
        if self.level is Level.STRICT:
            self._kill_namespace()

    def _kill_namespace(self) -> None:
        """Kill the namespace's first process: the kernel ends all others before bubblewrap sees it gone."""
        killed = False
        for pid in children_of(self.process.pid):
            try:
                descriptor = os.pidfd_open(pid)
            except OSError:
                continue
            if pid in children_of(self.process.pid):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                killed = True
            os.close(descriptor)
        if not killed:
            # Not Popen.kill: it would reap one that has just ended, behind the back of whoever waits for its usage.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)


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
        }
        if level is Level.STRICT:
            request["argv"] = strict_command(command, mounts, scratch, limits, variables, filter_fd, handed.devices)
        source = _file(stdin, stack) if isinstance(stdin, bytes) else stdin
        return _launch(request, level, filter_fd, source, handed.descriptors, stack)


def _launch(
    request: Mapping[str, object],
    level: Level,
    filter_fd: int,
    stdin: int,
    handed: tuple[int, ...],
    stack: ExitStack,
) -> Spawned:
    request_fd = _file(marshal.dumps(dict(request)), stack)
    ready, ready_end = os.pipe()
    lifeline_end, lifeline = os.pipe()
    stack.callback(os.close, ready)
    descriptors = [request_fd, filter_fd, ready_end, lifeline_end]
    try:
        process = _starter.submit(
            subprocess.Popen,
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, descriptors)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            cwd="/",
            pass_fds=[descriptor for descriptor in (*descriptors, *handed) if descriptor >= 0],
        ).result()
    except OSError as error:
        os.close(lifeline)
        raise SandboxError(f"cannot start a sandboxed process: {error}") from error
    finally:
        os.close(ready_end)
        os.close(lifeline_end)
    spawned = Spawned(process, level, lifeline)
    complaint = _read_complaint(ready, spawned)
    if complaint:
        spawned.kill()
        process.communicate()
        raise SandboxError(f"cannot start a sandboxed process: {complaint}")
    return spawned


def _read_complaint(ready: int, spawned: Spawned) -> str:
    """Wait until the launcher has become the command, or says why not."""
    timer = threading.Timer(_LAUNCH_S, spawned.process.kill)
    timer.start()
    try:
        with open(ready, "rb", closefd=False) as file:
            return file.read(4096).decode(errors="replace")
    finally:
        timer.cancel()


def _file(content: bytes, stack: ExitStack) -> int:
    """An anonymous file with this content, open for reading only."""
    writable = os.memfd_create("sandbox")
    with os.fdopen(writable, "wb") as file:
        file.write(content)
        file.flush()
        descriptor = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    return descriptor


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
