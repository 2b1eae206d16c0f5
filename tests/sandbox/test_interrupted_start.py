"""A harness, a launcher or a command that ends while a sandbox starts: at no moment does that leave anything running.

When it happens is spread over the time that a start takes; what is demanded does not depend on it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level, Limits, run, spawn, start
from tests.sandbox.attacks import ROOMY

LIMITS = Limits(**ROOMY)  # type: ignore[arg-type]
SLEEP = ["/bin/sh", "-c", "sleep 60 & sleep 60"]


@pytest.mark.parametrize("when_ms", range(0, 28, 4))
def test_a_harness_killed_while_it_starts_one_leaves_nothing(when_ms: int, any_level: str, scratch: Path) -> None:
    held, held_end = os.pipe()
    about_to, about_to_end = os.pipe()
    harness = os.fork()
    if harness == 0:
        try:
            arguments = {"level": Level(any_level), "scratch": scratch, "limits": LIMITS}
            run(["/bin/true"], **arguments)  # type: ignore[arg-type]
            os.write(about_to_end, b"!")
            start(SLEEP, descriptors=[held_end], **arguments)  # type: ignore[arg-type]
            signal.pause()
        finally:
            os._exit(1)
    os.close(about_to_end)
    os.close(held_end)
    assert os.read(about_to, 1) == b"!"
    time.sleep(when_ms * 1e-3)
    os.kill(harness, signal.SIGKILL)
    os.waitpid(harness, 0)
    assert nothing_holds(held)
    os.close(about_to)
    os.close(held)


def nothing_holds(pipe: int) -> bool:
    """Wait until no process has the other end: neither a command that was given it nor anything on the way there."""
    poll = select.poll()
    poll.register(pipe, 0)
    return poll.poll(20e3) == [(pipe, select.POLLHUP)]


def test_what_is_stopped_or_given_up_as_it_starts_leaves_nothing(
    any_level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_and_leave(any_level, scratch)
    for wait_ms in range(20):
        monkeypatch.setattr(spawn, "_LAUNCH_S", wait_ms * 1e-3)
        start_and_leave(any_level, scratch)


def test_a_launcher_killed_as_it_starts_takes_the_command_along(
    any_level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "_end", lambda lifeline: None)  # it is killed and told nothing before
    for wait_ms in range(20):
        monkeypatch.setattr(spawn, "_LAUNCH_S", wait_ms * 0.5e-3)
        start_and_leave(any_level, scratch)


def start_and_leave(level: str, scratch: Path) -> None:
    """Start a command and stop it at once, unless it was given up; nothing of it must be left."""
    held, held_end = os.pipe()
    arguments = {"level": Level(level), "scratch": scratch, "limits": LIMITS, "descriptors": [held_end]}
    with contextlib.suppress(SandboxError), start(SLEEP, **arguments):  # type: ignore[arg-type]
        pass
    os.close(held_end)
    assert nothing_holds(held)
    os.close(held)
