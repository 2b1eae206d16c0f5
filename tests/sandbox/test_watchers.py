"""The watchers of a sandbox, killed by somebody outside: whatever the command did, nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import Job, Level, Limits, python_mounts, start, why_not
from harness.sandbox.meter import children_of
from tests.sandbox.attacks import ROOMY

LIMITS = Limits(**ROOMY)  # type: ignore[arg-type]
# Asks for no signal at its parent's death, and has children and children of theirs, some in sessions of their own.
STUBBORN = """
import ctypes, os, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
ready, ready_end = os.pipe()
for _ in range(2):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
        os.write(ready_end, b"!")
        time.sleep(60)
got = 0
while got < 4:
    got += len(os.read(ready, 4))
print("up", flush=True)
time.sleep(60)
"""


@contextlib.contextmanager
def stubborn(level: str, scratch: Path) -> Iterator[tuple[Job, list[int], int]]:
    """Start it; give the job, its watchers, and a pipe whose other end only the command and its descendants have."""
    held, held_end = os.pipe()
    try:
        command = [sys.executable, "-I", "-S", "-c", STUBBORN]
        arguments = {"level": Level(level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
        with start(command, descriptors=[held_end], **arguments) as job:  # type: ignore[arg-type]
            os.close(held_end)
            assert next(job.lines()) == "up"
            first = job._spawned.pid
            yield job, [first, *children_of(first)], held
    finally:
        os.close(held)


def is_let_go(pipe: int, wait_s: float = 0) -> bool:
    """Tell whether no process has the other end, or will have within a time."""
    poll = select.poll()
    poll.register(pipe, 0)
    return poll.poll(wait_s * 1e3) == [(pipe, select.POLLHUP)]


@pytest.mark.parametrize("which", [0, 1], ids=["the first", "the second"])
def test_if_one_watcher_is_killed_the_other_ends_all(which: int, any_level: str, scratch: Path) -> None:
    with stubborn(any_level, scratch) as (job, watchers, held):
        assert len(watchers) == 2
        assert not is_let_go(held)
        os.kill(watchers[which], signal.SIGKILL)
        end = job.wait()
        assert is_let_go(held), "the end is told when nothing is left"
        assert (end.code, end.signal, end.limit) == (None, signal.SIGKILL, None)


def test_if_both_are_killed_at_once_a_process_namespace_dies_with_them(scratch: Path) -> None:
    if reason := why_not(Level.STRICT):
        pytest.skip(reason)
    with stubborn("strict", scratch) as (job, watchers, held):
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped, neither can do anything about the other's end
            for watcher in watchers:
                os.kill(watcher, number)
        job.wait()
        assert is_let_go(held, wait_s=20)
