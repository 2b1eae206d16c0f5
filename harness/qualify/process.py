"""The parent's side of a qualification: starts the child, passes on its progress, reads what it measured. No torch.

The child runs our code and the organiser's, so its messages are believed; but reference.py or mutants.py can crash it,
and then the error shows what it said last.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import harness
from harness.errors import SpecError, WorkerError
from harness.qualify.asked import SuiteRequest, encode_suites
from harness.qualify.conditions import Qualification, judge_measurements
from harness.qualify.measurements import Measurements
from harness.spec import Problem
from harness.store.codec import decode

Progress = Callable[[str, int, int], None]


class ChildEndedError(WorkerError):
    """A child ended, or had to be killed, before its last message.

    Attributes:
        code: what it ended with; None if it was silent for too long, and killed.
        printed: what it wrote to stderr last.
        message: what it said last; empty if it said nothing.
    """

    def __init__(self, problem: str, code: int | None, printed: str, message: dict[str, Any]) -> None:
        """Say what happened, and keep what was said."""
        how = "was silent for too long" if code is None else f"ended with code {code}"
        super().__init__(f"the process that tried {problem} {how}:\n{printed}")
        self.code, self.printed, self.message = code, printed, message


_PACKAGE_ROOT = Path(harness.__file__).resolve().parent.parent
_STDERR_BYTES = 4000


def qualify(problem: Problem, suites: Sequence[SuiteRequest], seeds: int, progress: Progress) -> Qualification:
    """Try a problem's variants and mutants on suites, and judge what was seen.

    Args:
        problem: the problem.
        suites: the suites to try, with their cases.
        seeds: how many inputs per case honest variants get.
        progress: is told of each step: what it is, how many are done, of how many.

    Raises:
        SpecError: the problem's Python is at fault.
        WorkerError: the child ended without a message.
    """
    message = run_child("harness.qualify", problem, (str(seeds), encode_suites(suites)), progress)
    return judge_measurements(decode(Measurements, message["measurements"]))


def run_child(
    module: str, problem: Problem, arguments: Sequence[str], progress: Progress, silence_s: float | None = None
) -> dict[str, Any]:
    """Run one of our modules on a problem's Python, and return its last message.

    Args:
        module: run as `python -m module PROBLEM_DIR ARGUMENT...`.
        problem: the problem.
        arguments: as said.
        progress: as `qualify` has it.
        silence_s: how long it may say nothing, once it has said something; for ever where None.

    Raises:
        SpecError: the problem's Python is at fault.
        WorkerError: the child failed.
        ChildEndedError: it ended without a last message, or was silent for too long.
    """
    path = os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", module, str(problem.folder.resolve()), *arguments]
    with (
        tempfile.TemporaryFile() as stderr,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=_PACKAGE_ROOT,
            env={**os.environ, "PYTHONPATH": path},
        ) as process,
    ):
        assert process.stdout is not None
        watch = _Watch(process, silence_s)
        try:
            last = _follow(process.stdout, progress, watch)
        except BaseException:
            process.kill()
            raise
        finally:
            watch.end()
        if "step" in last or not last:
            code = process.wait()
            raise ChildEndedError(problem.name, None if watch.killed else code, _tail(stderr), last)
    return _checked(last, problem)


class _Watch:
    """Kills a process that says nothing for too long.

    Attributes:
        killed: whether it did.
    """

    def __init__(self, process: subprocess.Popen[str], silence_s: float | None) -> None:
        self._process, self._silence_s = process, silence_s
        self._timer: threading.Timer | None = None
        self.killed = False

    def hear(self) -> None:
        """Begin to wait anew."""
        self.end()
        if self._silence_s is not None:
            self._timer = threading.Timer(self._silence_s, self._kill)
            self._timer.start()

    def end(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _kill(self) -> None:
        self.killed = True
        self._process.kill()


def _follow(lines: IO[str], progress: Progress, watch: _Watch) -> dict[str, Any]:
    """Pass on progress until the last message, or the end; return what was said last, nothing if nothing was."""
    message: dict[str, Any] = {}
    for done, line in enumerate(lines):
        message = json.loads(line)
        if "step" not in message:
            break
        watch.hear()
        progress(message["step"], done, message["total"])
    return message


def _checked(message: dict[str, Any], problem: Problem) -> dict[str, Any]:
    error = message.get("error")
    if error is None:
        return message
    if error["kind"] == "spec":
        raise SpecError(error["message"])
    raise WorkerError(f"the qualification of {problem.name} failed: {error['message']}")


def _tail(stderr: IO[bytes]) -> str:
    size = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(size - _STDERR_BYTES, 0))
    return stderr.read().decode("utf-8", "replace").strip()
