"""Traces one submission after another, each in a fork of a process that has Helion imported. Runs in the sandbox.

Reads a line per request, {"id": ..., "request": {...}, "out": folder, "events": file}; answers {"done": id}. A
submission gets neither of the two pipes, and no process of its outlives it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from harness.trace import child
from tests.trace.warm_tracer import _trace, _warm_up


def main(scratch: str) -> None:
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    child.import_toolchain("b200", Path(scratch))
    _warm_up()
    for line in requests:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.close(requests.fileno())
            os.close(answers.fileno())
            _trace(job)
        os.waitpid(pid, 0)
        _clear()
        print(json.dumps({"done": job["id"]}), file=answers, flush=True)


def _clear() -> None:
    """Kill what a submission left running, where this process is the first of a namespace."""
    if os.getpid() != 1:
        return
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


if __name__ == "__main__":
    main(sys.argv[1])
