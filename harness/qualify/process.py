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


def run_child(module: str, problem: Problem, arguments: Sequence[str], progress: Progress) -> dict[str, Any]:
    """Run one of our modules on a problem's Python, and return its last message.

    Args:
        module: run as `python -m module PROBLEM_DIR ARGUMENT...`.
        problem: the problem.
        arguments: as said.
        progress: as `qualify` has it.

    Raises:
        SpecError: the problem's Python is at fault.
        WorkerError: the child failed, or ended without a message.
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
        try:
            last = _follow(process.stdout, progress)
        except BaseException:
            process.kill()
            raise
        if last is None:
            code = process.wait()
            raise WorkerError(f"the qualification of {problem.name} ended with code {code}:\n{_tail(stderr)}")
    return _checked(last, problem)


def _follow(lines: IO[str], progress: Progress) -> dict[str, Any] | None:
    """Pass on progress until the last message, and return that; None if there is none."""
    for done, line in enumerate(lines):
        message: dict[str, Any] = json.loads(line)
        if "step" not in message:
            return message
        progress(message["step"], done, message["total"])
    return None


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
