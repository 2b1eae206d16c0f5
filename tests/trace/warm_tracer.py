"""A process that has imported the toolchain and forks once per request: tests then cost what their kernels cost.

Not part of the product. Reads a line per request, {"request": {...}, "out": folder, "events": file}; answers "done".
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from harness.target import load_target
from harness.trace import child


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    child.import_toolchain("b200", Path(sys.argv[1]))
    _warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _trace(job)
        os.waitpid(pid, 0)
        print("done", file=answers, flush=True)


def _warm_up() -> None:
    """Compile once, under hooks that every request replaces with its own."""
    from harness.trace.session import Session
    from harness.trace.warm_up import warm_up

    request = {"submission": "/nowhere", "target": "b200", "shapes": []}
    session = Session(request, Path("/nowhere"))
    with session._recorder.recording():
        warm_up()
    gc.collect()
    gc.freeze()


def _trace(job: dict[str, Any]) -> None:
    from harness.trace.described_gpu import install_gpu

    with Path(job["events"]).open("w", encoding="utf-8", buffering=1) as stream:
        try:
            install_gpu(load_target(job["request"]["target"]))
            child.trace(
                job["request"],
                Path(job["out"]),
                lambda event: print(json.dumps(event), file=stream),
                time.perf_counter(),
            )
        finally:
            stream.flush()
            os._exit(0)


if __name__ == "__main__":
    main()
