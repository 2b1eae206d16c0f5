"""One forked process per shape, a few at a time: each starts from the imported submission and ends after its shape.

Owns the processes, their results and their CPU time. What a child reports is taken as it comes; that it may die,
exit or report nothing is expected.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.trace.failures import REASONS, Failure
from harness.trace.protocol import Emit, failed_event


@dataclass
class _Child:
    pid: int
    pipe: int
    shape: str
    started_s: float
    received: bytearray = field(default_factory=bytearray)


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
    with selectors.DefaultSelector() as selector:
        while waiting or selector.get_map():
            while waiting and len(selector.get_map()) < max(1, jobs):
                shape = waiting.pop()
                emit({"event": "start", "shape": shape["id"]})
                child = _start(shape, work)
                selector.register(child.pipe, selectors.EVENT_READ, child)
            for key, _ in selector.select():
                child = key.data
                data = os.read(child.pipe, 1 << 16)
                child.received += data
                if not data:
                    selector.unregister(child.pipe)
                    os.close(child.pipe)
                    emit(_finish(child))


def _start(shape: dict[str, Any], work: Callable[[dict[str, Any]], dict[str, Any]]) -> _Child:
    reader, writer = os.pipe()
    started_s = time.perf_counter()
    sys.stdout.flush()  # or every child prints again what is still in the buffer
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _run(shape, work, writer)
    os.close(writer)
    return _Child(pid, reader, shape["id"], started_s)


def _run(shape: dict[str, Any], work: Callable[[dict[str, Any]], dict[str, Any]], writer: int) -> None:
    """Be the child: work, report, and end without running anybody's exit handlers."""
    code = 1
    try:
        report = memoryview(json.dumps(work(shape)).encode())
        while report:
            report = report[os.write(writer, report) :]
        code = 0
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _finish(child: _Child) -> dict[str, Any]:
    """Return the child's event, or what its death means. Its CPU time includes that of its own children."""
    _, status, usage = os.wait4(child.pid, 0)
    try:
        event = json.loads(child.received)
        assert event["shape"] == child.shape
    except (ValueError, AssertionError, KeyError, TypeError):
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
