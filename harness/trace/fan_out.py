"""One forked process per shape, a few at a time: each starts from the imported submission and ends after its shape.

Owns the processes, their results and their CPU time. What a child reports is taken as it comes; that it may die,
exit or report nothing is expected.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.strict_json import parse_strict
from harness.trace.failures import REASONS, Failure
from harness.trace.protocol import Emit, failed_event


@dataclass(frozen=True)
class _Child:
    shape: str
    report: Path
    started_s: float


def fan_out(
    shapes: Iterable[dict[str, Any]], work: Callable[[dict[str, Any]], dict[str, Any]], jobs: int, emit: Emit
) -> None:
    """Run `work` on every shape in processes of their own and emit what they return.

    Args:
        shapes: the shapes, each with an "id".
        work: takes a shape, returns an event.
        jobs: how many processes at a time.
        emit: where "start", and the events returned, go; those get `cpu_s` and `wall_s` of their process.
    """
    waiting = list(shapes)[::-1]
    running: dict[int, _Child] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            if waiting and len(running) < max(1, jobs):
                shape = waiting.pop()
                emit({"event": "start", "shape": shape["id"]})
                child = _Child(shape["id"], Path(folder) / str(len(waiting)), time.perf_counter())
                running[_start(shape, work, child.report)] = child
                continue
            pid, status, usage = os.wait3(0)  # the end of a process, not of a pipe: a process of its own may hold that
            if pid in running:
                emit(_finish(running.pop(pid), status, usage))


def _start(shape: dict[str, Any], work: Callable[[dict[str, Any]], dict[str, Any]], report: Path) -> int:
    sys.stdout.flush()  # or every child prints again what is still in the buffer
    pid = os.fork()
    if pid == 0:
        _run(shape, work, report)
    return pid


def _run(shape: dict[str, Any], work: Callable[[dict[str, Any]], dict[str, Any]], report: Path) -> None:
    """Be the child: work, report, and end without running anybody's exit handlers."""
    code = 1
    try:
        report.write_text(json.dumps(work(shape)), encoding="utf-8")
        code = 0
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _finish(child: _Child, status: int, usage: resource.struct_rusage) -> dict[str, Any]:
    """Return the child's event, or what its death means. Its CPU time includes that of its own children."""
    try:
        event = parse_strict(child.report.read_text(encoding="utf-8"))
        assert event["shape"] == child.shape
    except (OSError, ValueError, AssertionError, KeyError, TypeError):
        event = failed_event(child.shape, Failure(*_death(status)))
    event["cpu_s"] = round(usage.ru_utime + usage.ru_stime, 3)
    event["wall_s"] = round(time.perf_counter() - child.started_s, 3)
    return dict(event)


def _death(status: int) -> tuple[str, str]:
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return "out_of_memory", f"The process was killed, most likely for its use of memory. {REASONS['out_of_memory']}"
    if code < 0:
        told = f"The process was ended by {signal.Signals(-code).name}; a compiler may have crashed."
    else:
        told = f"The process ended with exit code {code} and without a result."
    return "process_died", f"{told} {REASONS['process_died']}"
