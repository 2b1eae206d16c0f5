"""A CPU runner seen from outside: started in a sandbox, asked for one execution after the other, ended.

The runner (`replay.cpu`) executes a submission's Triton source, so all that it says is hostile: a line that answers
nothing that was asked is passed over, and of an answer only what is of its kind is taken. Imports no torch.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.sandbox import (
    HOST_DISK,
    Exit,
    Job,
    Level,
    Limits,
    Mount,
    python_mounts,
    start,
    visible,
    visible_scratch,
)
from harness.strict_json import parse_object

STATUSES = ("done", "out_of_bounds", "unsupported", "fault", "timeout")
SAMPLED_PROGRAMS = 8

_ARTIFACT = "/artifact"
_MEMORY_BYTES, _FILE_BYTES, _SCRATCH_BYTES, _OUTPUT_BYTES = 8 << 30, 2 << 30, 4 << 30, 8 << 20
_PROCESSES = 8192  # a kernel with a grid barrier needs a thread for each of its programs
_TOLD_CHARACTERS = 500


class CpuRunner:
    """One runner for one artifact, as a context manager.

    Args:
        program: the command that starts it, before its two folders.
        artifact: the artifact's folder.
        scratch: the folder that it shares with us, for files of tensors.
        level: of its sandbox.
        wall_s: for all that it does.
        mounts: what the program needs beside Python.
    """

    def __init__(
        self,
        program: Sequence[str],
        artifact: Path,
        scratch: Path,
        level: Level,
        *,
        wall_s: float,
        mounts: Sequence[Mount] = (),
    ) -> None:
        self.scratch = scratch
        mount = Mount(artifact.resolve(), _ARTIFACT)
        limits = Limits(wall_s, None, _MEMORY_BYTES, _PROCESSES, _FILE_BYTES, _SCRATCH_BYTES, _OUTPUT_BYTES)
        command = [*program, visible_scratch(level, scratch), visible(level, mount)]
        every = (*python_mounts(), *mounts, mount)
        reading, writing = os.pipe()
        self._requests = os.fdopen(writing, "w", encoding="utf-8")
        try:
            self._job: Job = start(command, level=level, mounts=every, scratch=scratch, limits=limits, stdin=reading)
        except BaseException:
            self._requests.close()
            raise
        finally:
            os.close(reading)
        self._lines = self._job.lines()

    def __enter__(self) -> CpuRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def execute(
        self, number: int, shape_id: str, given: str, got: str, *, sampled: bool, time_limit_s: float
    ) -> dict[str, Any]:
        """Have a shape's plan executed once; return the answer, whose "id" and "status" are of their kind.

        Args:
            number: of the request; none is used twice.
            shape_id: which plan.
            given: the name of the file of inputs in the scratch folder.
            got: the name of the file for outputs.
            sampled: run some programs of each launch only.
            time_limit_s: for this one.

        Raises:
            OSError: the machine's disk is full, by no doing of the runner's.
        """
        self._send(
            {
                "id": number,
                "shape_id": shape_id,
                "inputs": given,
                "outputs": got,
                "programs": {"sample": SAMPLED_PROGRAMS, "seed": secrets.randbits(31)} if sampled else None,
                "workers": len(os.sched_getaffinity(0)),
                "seed": secrets.randbits(31),
                "time_limit_s": time_limit_s,
            }
        )
        for line in self._lines:
            answer = parse_object(line)
            if answer is not None and answer.get("id") == number and answer.get("status") in STATUSES:
                return answer
        return {"id": number, "status": "unsupported", "reason": _tell_end(self._job.wait())}

    def close(self) -> None:
        """End it, and wait."""
        with suppress(OSError):  # what was not read by the time that it ended is lost
            self._requests.close()
        self._job.stop("ended")
        self._job.wait()

    def _send(self, request: dict[str, Any]) -> None:
        with suppress(OSError):  # where it has ended there is no answer either
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()


def _tell_end(end: Exit) -> str:
    """Say that a runner has ended, and how."""
    if end.limit == HOST_DISK:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    told = end.limit or (f"signal {end.signal}" if end.signal else f"exit code {end.code}")
    said = end.stderr[-_TOLD_CHARACTERS:].strip()
    return f"the interpreter's process ended early ({told})" + (f": {said}" if said else "")
