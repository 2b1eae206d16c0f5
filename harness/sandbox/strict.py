"""Level strict: the bubblewrap command line, and whether this machine's bubblewrap will do.

Inside there is /usr, the mounts, an own /proc, a bare /dev, /tmp and /dev/shm of bounded size, and /scratch.
Everything that bubblewrap leaves writable and unbounded (its root, its /dev) is made read-only.
"""

# Names inside the sandbox are text.
# ruff: noqa: PTH112, PTH114, PTH115

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.sandbox.contract import SCRATCH, Limits, Mount

MEMORY_FOLDERS = ("/tmp", "/dev/shm")  # noqa: S108  (its own)
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


@functools.cache
def find_bubblewrap() -> str | None:
    """Return the path of bubblewrap, None if it is not installed."""
    return shutil.which("bwrap")


@functools.cache
def find_prlimit() -> str | None:
    """Return the path of prlimit (util-linux), None if it is not installed."""
    return shutil.which("prlimit", path="/usr/bin:/bin")


@functools.cache
def bubblewrap_options(bubblewrap: str) -> frozenset[str]:
    """Return the options that a bubblewrap binary knows, as its help lists them."""
    run = subprocess.run([bubblewrap, "--help"], capture_output=True, text=True, timeout=10, check=False)
    return frozenset(word for word in (run.stdout + run.stderr).split() if word.startswith("--"))


def strict_command(
    command: Sequence[str],
    mounts: Sequence[Mount],
    scratch: Path,
    limits: Limits,
    environment: Mapping[str, str],
    filter_fd: int,
    devices: Sequence[Path] = (),
) -> list[str]:
    """Return the bubblewrap command line that runs `command`; bubblewrap and prlimit must be there."""
    bubblewrap, prlimit = find_bubblewrap() or "bwrap", find_prlimit() or "prlimit"
    words = [bubblewrap, *_namespaces(bubblewrap), *_system(limits.scratch_bytes, devices)]
    for mount in mounts:
        words += ["--ro-bind", str(mount.source.absolute()), mount.target]
    words += ["--bind", str(scratch.absolute()), SCRATCH, "--remount-ro", "/", "--chdir", SCRATCH]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    # Set inside: a process limit set outside would count what the user runs elsewhere.
    count = f"--nproc={limits.processes}:{limits.processes}"
    return [*words, "--seccomp", str(filter_fd), "--", prlimit, count, "--", *command]


def _namespaces(bubblewrap: str) -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--hostname", "sandbox", "--clearenv", "--new-session", "--die-with-parent")
    # Without it bubblewrap's own pid 1 runs beside the command, outside the seccomp filter.
    yield "--as-pid-1"
    if "--disable-userns" in bubblewrap_options(bubblewrap):
        yield "--disable-userns"


def _system(temporary_bytes: int, devices: Sequence[Path]) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for folder in _SYSTEM_FOLDERS:
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from ("--ro-bind", folder, folder)
    for name in _SYSTEM_FILES:
        yield from ("--ro-bind-try", name, name)
    yield from ("--proc", "/proc", "--dev", "/dev")
    for folder in MEMORY_FOLDERS:
        yield from ("--size", str(temporary_bytes), "--tmpfs", folder)
    for device in devices:
        yield from ("--dev-bind", str(device), str(device))
    yield from ("--remount-ro", "/dev")
