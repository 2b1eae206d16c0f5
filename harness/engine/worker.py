"""Starting one of our worker modules in the sandbox, and reading what it says.

A worker gets its request as a file and answers with JSON lines and files in its scratch folder. Both are hostile: the
submission's code runs in the same process as the tracer. A line that is not one of the expected events is dropped.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.engine.workspace import disk_error
from harness.sandbox import HOST_DISK, Exit, Job, Level, Limits, Mount, python_mounts, start, visible_scratch
from harness.strict_json import parse_object

MEMORY_BYTES = 8 << 30
PROCESSES = 256
FILE_BYTES = 2 << 30
SCRATCH_BYTES = 4 << 30
OUTPUT_BYTES = 8 << 20
REQUEST = "request.json"


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class WorkerJob:
    """A running worker, and the folder that it shares with us."""

    job: Job
    scratch: Path

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the worker's events as they come; what is not a JSON object is passed over."""
        for line in self.job.lines():
            event = parse_object(line)
            if event is not None:
                yield event

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
