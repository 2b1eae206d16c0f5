"""Runs a launch's programs in forked workers: in shuffled order, over the cores, up to a deadline.

Every launch runs in child processes, so that a crash, an endless loop or a full memory ends the launch and not
the worker. Programs are spread over several children unless they update memory atomically (then the order of
the updates would differ from one replay to the next) or wait for one another (then they take turns).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from harness.replay.cpu.barrier import Rotation
from harness.replay.cpu.bounds import Bounds, Region
from harness.replay.cpu.faults import BY_STATUS, Fault, TimeLimit, Unsupported
from harness.replay.cpu.interpreter import builder
from harness.replay.cpu.kernels import Kernel
from harness.replay.cpu.numerics import Array
from harness.replay.cpu.shared import StoredBytes, shared_bytes

MOST_PROGRAMS = 1 << 22
_MOST_REPORT_BYTES = 1 << 16
# "# src[submission.py:12]: y[tile] = x[tile]", above what Helion generated from that line
_ORIGIN = re.compile(r"\s*# src\[[^\]\n]*:(\d{1,7})\]: (.*)")

Place = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """A kernel with bound arguments, ready to run any of its programs."""

    kernel: Kernel
    values: dict[str, Any]
    regions: tuple[Region, ...]
    grid: Place

    @property
    def total(self) -> int:
        """Programs in the grid."""
        x, y, z = self.grid
        return x * y * z

    def place(self, number: int) -> Place:
        """Return the program ids of program `number`, x running fastest."""
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)


def choose_programs(total: int, sample: int | None, seed: Sequence[int]) -> Array:
    """Return program numbers in shuffled order: all, or a sample that holds the first and the last."""
    random = np.random.default_rng(list(seed))
    if sample is None or sample >= total:
        if total > MOST_PROGRAMS:
            raise TimeLimit(f"a launch of {total} programs is more than CPU replay starts, {MOST_PROGRAMS}")
        return random.permutation(total)
    inner = random.integers(0, total, size=4 * sample)
    chosen = np.unique(np.concatenate([[0, total - 1], inner]))
    return random.permutation(np.concatenate([[0, total - 1], random.permutation(chosen[1:-1])])[: max(sample, 2)])


def run_programs(
    launch: Launch, numbers: Array, workers: int, deadline: float, stored: StoredBytes | None = None
) -> None:
    """Run programs of a launch to their end.

    Args:
        launch: the launch.
        numbers: which programs, in which order.
        workers: how many processes may share the work.
        deadline: on `time.monotonic()`'s scale.
        stored: notes what is stored, if given.

    Raises:
        Fault: of the kind that the first failing program met.
    """
    traits = launch.kernel.traits
    shares = 1 if traits.atomics or traits.waits else max(1, min(workers, len(numbers)))
    progress = shared_bytes(8 * shares).numpy().view(np.int64)
    crew: dict[int, int] = {}
    try:
        for index in range(shares):
            share = numbers[index::shares]
            pid, channel = _start(lambda i=index, s=share: _run_share(launch, s, stored, progress, i))  # type: ignore[misc]
            crew[channel] = pid
        _supervise(crew, deadline)
    except TimeLimit as limit:
        limit.where["programs_run"] = int(progress.sum())
        raise
    finally:
        for channel, pid in crew.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(channel)


def _start(work: Callable[[], None]) -> tuple[int, int]:
    """Fork a child for some work; return its pid and a pipe that carries its report and then ends."""
    reading, writing = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(reading)
        os.close(writing)
        raise Unsupported(f"no process could be started for the launch: {error.strerror}") from None
    if pid:
        os.close(writing)
        return pid, reading
    try:
        os.close(reading)
        report = b"{}"
        try:
            work()
        except Fault as fault:
            report = _write_report(fault)
        except Exception as error:
            report = _write_report(Unsupported(f"the interpreter stopped: {type(error).__name__} {error}"[:300]))
        os.write(writing, report[:_MOST_REPORT_BYTES])
    finally:
        os._exit(0)


def _write_report(fault: Fault) -> bytes:
    return json.dumps({"status": fault.status, "reason": fault.reason, "where": fault.where}).encode()


def _supervise(crew: dict[int, int], deadline: float) -> None:
    """Wait for every child's report. Raise the first fault reported."""
    with selectors.DefaultSelector() as waiting:
        for channel in crew:
            waiting.register(channel, selectors.EVENT_READ)
        while waiting.get_map():
            left = deadline - time.monotonic()
            ready = waiting.select(left) if left > 0 else []
            if not ready:
                raise TimeLimit("")
            for key, _ in ready:
                waiting.unregister(key.fd)
                _read_report(key.fd)


def _read_report(channel: int) -> None:
    text = os.read(channel, _MOST_REPORT_BYTES)
    if not text:
        raise Unsupported("a process that ran programs of the launch died: out of memory, or a crash")
    report = json.loads(text)
    if report:
        raise BY_STATUS[report["status"]](report["reason"], report["where"])


def _run_share(launch: Launch, numbers: Array, stored: StoredBytes | None, progress: Array, index: int) -> None:
    """Run a worker's share of the programs. The body of a child process."""
    builder.bounds = Bounds(launch.regions)
    builder.recorder = None if stored is None else stored.record
    builder.set_grid_dim(*launch.grid)
    places = [launch.place(int(number)) for number in numbers]

    def run_one(place: Place) -> None:
        _run_program(launch, place)
        progress[index] += 1

    if launch.kernel.traits.waits and len(places) > 1:
        rotation = Rotation(places, lambda place: builder.set_grid_idx(*place))
        builder.pause = rotation.pause
        rotation.run(run_one)
        return
    for place in places:
        builder.set_grid_idx(*place)
        run_one(place)


def _run_program(launch: Launch, place: Place) -> None:
    try:
        launch.kernel.function(**launch.values)
    except Fault as fault:
        fault.where.update(_locate(launch.kernel, fault.__traceback__), program=list(place))
        raise
    except Exception as error:
        raise _stopped(launch, place, error) from None


def _stopped(launch: Launch, place: Place, error: BaseException) -> Unsupported:
    """Whatever Triton's interpreter raises says nothing about the GPU: there the kernel did compile."""
    where = _locate(launch.kernel, error.__traceback__)
    detail = " ".join(str(error).split())[:300]
    return Unsupported(f"the interpreter stopped: {type(error).__name__} {detail}", {**where, "program": list(place)})


def _locate(kernel: Kernel, traceback: TracebackType | None) -> dict[str, Any]:
    """Find the innermost line of the kernel's source in a traceback."""
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == kernel.file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    text = kernel.lines[line - 1].strip()[:300] if 0 < line <= len(kernel.lines) else ""
    return {"kernel": kernel.name, "source_line": line, "source_text": text, **_find_origin(kernel.lines[:line])}


def _find_origin(lines: Sequence[str]) -> dict[str, Any]:
    """Find the submission's line that the last of these lines was generated from: Helion notes it in a comment."""
    for text in reversed(lines):
        origin = _ORIGIN.match(text)
        if origin:
            return {"origin_line": int(origin[1]), "origin_text": origin[2].strip()[:300]}
        if text.startswith("def "):
            break
    return {}
