"""Starting one of our worker modules in the sandbox, and reading what it says.

A worker gets its request as a file and answers with JSON lines and files in its scratch folder. Both are hostile: the
submission's code runs in the same process as the tracer. A line that is not one of the expected events is dropped.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from harness.engine.workspace import disk_error
from harness.sandbox import HOST_DISK, Exit, Job, Level, Limits, Mount, python_mounts, start, visible, visible_scratch

MEMORY_BYTES = 8 << 30
PROCESSES = 256
REPLAY_PROCESSES = 8192  # a kernel with a grid barrier needs a thread for each of its programs
FILE_BYTES = 2 << 30
SCRATCH_BYTES = 4 << 30
OUTPUT_BYTES = 8 << 20
REQUEST = "request.json"
ARTIFACT_MOUNT = "/artifact"


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class WorkerJob:
    """A running worker, the folder that it shares with us, and where it takes requests if it does."""

    job: Job
    scratch: Path
    requests: IO[str] | None = None

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the worker's events as they come; what is not a JSON object is passed over."""
        for line in self.job.lines():
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event

    def send(self, request: dict[str, Any]) -> None:
        """Write one request line to the worker's standard input; a worker that has ended is found out by `events`."""
        assert self.requests is not None
        with contextlib.suppress(BrokenPipeError):
            self.requests.write(json.dumps(request) + "\n")
            self.requests.flush()

    def end(self) -> Exit:
        """Close the worker's input, stop what still runs, and wait."""
        if self.requests is not None:
            with contextlib.suppress(BrokenPipeError):
                self.requests.close()
        self.job.stop("ended")
        return self.job.wait()

    def wait(self) -> Exit:
        """Wait for the end.

        Raises:
            HarnessError: the machine's disk is full, by no doing of the worker's.
        """
        end = self.job.wait()
        if end.limit == HOST_DISK:
            raise disk_error(OSError(errno.ENOSPC, ""), self.scratch)
        return end


def start_worker(
    module: str,
    request: dict[str, Any],
    scratch: Path,
    level: Level,
    *,
    cpu_s: float | None,
    wall_s: float,
    mounts: Sequence[Mount] = (),
    environment: dict[str, str] | None = None,
) -> WorkerJob:
    """Start `python -m module REQUEST OUT` in the sandbox, with OUT an empty folder in its scratch."""
    (scratch / REQUEST).write_text(json.dumps(request), encoding="utf-8")
    (scratch / REQUEST).chmod(0o644)
    inside = visible_scratch(level, scratch)
    limits = Limits(wall_s, cpu_s, MEMORY_BYTES, PROCESSES, FILE_BYTES, SCRATCH_BYTES, OUTPUT_BYTES)
    command = [sys.executable, "-I", "-m", module, f"{inside}/{REQUEST}", f"{inside}/out"]
    job = start(
        command,
        level=level,
        mounts=(*python_mounts(), *mounts),
        scratch=scratch,
        limits=limits,
        environment=environment or {},
    )
    return WorkerJob(job, scratch)


def start_replay_worker(artifact: Path, scratch: Path, level: Level, *, wall_s: float) -> WorkerJob:
    """Start the CPU runner on an artifact: it takes requests on its standard input, files in its scratch folder."""
    mount = Mount(artifact, ARTIFACT_MOUNT)
    limits = Limits(wall_s, None, MEMORY_BYTES, REPLAY_PROCESSES, FILE_BYTES, SCRATCH_BYTES, OUTPUT_BYTES)
    command = [sys.executable, "-I", "-m", "harness.replay.cpu", visible_scratch(level, scratch), visible(level, mount)]
    mounts = (*python_mounts(), mount)
    reading, writing = os.pipe()
    try:
        job = start(command, level=level, mounts=mounts, scratch=scratch, limits=limits, stdin=reading)
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return WorkerJob(job, scratch, os.fdopen(writing, "w", encoding="utf-8"))


def number(event: dict[str, Any], name: str) -> float:
    """Return a non-negative number of an event, 0 where it holds something else."""
    value = event.get(name)
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if good and value is not None else 0.0


def text(event: dict[str, Any], name: str, most: int = 4000) -> str:
    """Return a text of an event, cut to `most` characters; "" where it holds something else."""
    value = event.get(name)
    return value[:most] if isinstance(value, str) else ""
