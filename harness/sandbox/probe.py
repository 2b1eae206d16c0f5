"""Finds out which levels this machine has, by running a command at each, and says how to get a higher one."""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path

from harness.errors import SandboxError
from harness.sandbox import kernel
from harness.sandbox.contract import MIB, Level, LevelReport, Limits
from harness.sandbox.interpreter import python_mounts
from harness.sandbox.job import run
from harness.sandbox.results import remove_tree
from harness.sandbox.strict import bubblewrap_options, find_bubblewrap, find_prlimit

_LIMITS = Limits(wall_s=30, cpu_s=10, memory_bytes=512 * MIB, processes=16, file_bytes=MIB, scratch_bytes=16 * MIB)
_GREETING = "ready"
_PROC_SYS = Path("/proc/sys")
_SWITCHES = (  # a file under /proc/sys, the content with which users may not make namespaces, the content to set
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user/max_user_namespaces", "0", "10000"),
)


@functools.cache
def why_not(level: Level) -> str | None:
    """Return why a level does not work on this machine and what to do, in a sentence; None if it works."""
    if sentence := find_missing(level):
        return sentence
    complaint = _try(level)
    if complaint is None:
        return None
    advice = _namespace_advice() if level is Level.STRICT else "run `harness doctor --json` and report this"
    return f"level {level} was tried and failed ({complaint}): {advice}"


def find_missing(level: Level) -> str | None:
    """Return what a level needs and this machine lacks, in a sentence, without trying the level; None if nothing."""
    if level is Level.STRICT:
        return _missing_for_strict()
    return _missing_for_restricted() if level is Level.RESTRICTED else None


@functools.cache
def best_level() -> LevelReport:
    """Return the highest level that works here, and why none above it does.

    Raises:
        SandboxError: no level works at all.
    """
    for report in probe_levels():
        return report
    raise SandboxError(f"no process can be started under limits: {why_not(Level.NONE)}")


def probe_levels() -> tuple[LevelReport, ...]:
    """Return a report for each level that works here, best first; each lists what is wrong with those above."""
    reports, reasons = [], list[str]()
    for level in Level:
        sentence = why_not(level)
        if sentence is None:
            reports.append(LevelReport(level, tuple(reasons)))
        else:
            reasons.append(sentence)
    return tuple(reports)


def _try(level: Level) -> str | None:
    """Start Python at a level, let it read the harness and write a file; return what went wrong."""
    scratch = Path(tempfile.mkdtemp(prefix="sandbox-probe-"))
    program = f"open({__file__!r}).close(); open('probe', 'w').close(); print({_GREETING!r})"
    command = [sys.executable, "-I", "-S", "-c", program]
    try:
        output, end = run(command, level=level, mounts=python_mounts(), scratch=scratch, limits=_LIMITS)
    except SandboxError as error:
        return str(error)
    finally:
        remove_tree(scratch)
    if end.code == 0 and output.strip() == _GREETING:
        return None
    return (end.stderr.strip().splitlines() or [f"exit status {end.code}, limit {end.limit}"])[-1][:300]


def _missing_for_strict() -> str | None:
    bubblewrap = find_bubblewrap()
    if bubblewrap is None:
        return "level strict needs bubblewrap, which is not installed: sudo apt install bubblewrap"
    if find_prlimit() is None:
        return "level strict needs prlimit, which is not installed: sudo apt install util-linux"
    lacking = sorted({"--size", "--as-pid-1", "--clearenv"} - bubblewrap_options(bubblewrap))
    if lacking:
        return f"level strict needs bubblewrap 0.8 or newer ({bubblewrap} has no {lacking[0]}): install a newer one"
    return None


def _missing_for_restricted() -> str | None:
    if kernel.landlock_abi() > 0:
        return None
    return (
        "level restricted needs Landlock, which this kernel does not offer: use Linux 5.13 or newer and put "
        "landlock into the kernel's lsm= parameter (in a container: allow its system calls)"
    )


def _namespace_advice() -> str:
    for name, forbidding, allowing in _SWITCHES:
        try:
            content = (_PROC_SYS / name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if content == forbidding:
            return f"user namespaces are switched off here: sudo sysctl {name.replace('/', '.')}={allowing}"
    if any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):
        return "this is a container: start it with user namespaces allowed (--security-opt seccomp=unconfined)"
    return "allow unprivileged user namespaces on this machine"
