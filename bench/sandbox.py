"""`python -m bench.sandbox`: what it costs to start a process in the sandbox, at each level; prints JSON.

A plain and a sandboxed start in turn, so that both meet the same load. Beside the time it measures CPU time, that of
the harness and of its fork server included, which a busy machine changes less. The server has been started before, by
asking what this machine has: the first sandbox of a process waits for that too.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness.sandbox import Level, Limits, python_mounts, remove_tree, run, why_not
from harness.sandbox.meter import children_of

COMMAND = [sys.executable, "-I", "-S", "-c", "pass"]
LIMITS = Limits(30, 20, 512 << 20, 32, 64 << 20, 64 << 20)
REPEATS = 20
PROMISE_MS = 30.0


def main() -> int:
    levels = {str(level): measure(level) for level in Level if why_not(level) is None}
    load = os.getloadavg()[0]
    print(json.dumps({"cores": len(os.sched_getaffinity(0)), "load": load, "levels": levels}, indent=1))
    return 1 if any(found["added_ms"] > PROMISE_MS for found in levels.values()) else 0


def measure(level: Level) -> dict[str, float]:
    """Return medians in milliseconds: of a plain start, a sandboxed one, and what that adds."""
    plain, ours = [], []
    for _ in range(REPEATS):
        plain.append(timed(start_plain))
        ours.append(timed(lambda: start_sandboxed(level)))
    middle = [[statistics.median(values) for values in zip(*found, strict=True)] for found in (plain, ours)]
    added = [statistics.median(o[i] - p[i] for o, p in zip(ours, plain, strict=True)) for i in (0, 1)]
    names = ("plain", "sandboxed", "added")
    return {
        f"{name}{what}_ms": round(values[i], 1)
        for i, what in enumerate(("", "_cpu"))
        for name, values in zip(names, (*middle, added), strict=True)
    }


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Run an action; return its wall and CPU time in milliseconds, ended children's included."""
    began, used = time.perf_counter(), _cpu_s()
    action()
    return (time.perf_counter() - began) * 1e3, (_cpu_s() - used) * 1e3


def _cpu_s() -> float:
    """What this process has used, with its children that have ended and the one that lives, the fork server."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    living = (Path(f"/proc/{child}/schedstat").read_text() for child in children_of(os.getpid()))
    return sum(used.ru_utime + used.ru_stime for used in usages) + sum(int(text.split()[0]) / 1e9 for text in living)


def start_plain() -> None:
    subprocess.run(COMMAND, check=True, capture_output=True)


def start_sandboxed(level: Level) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        run(COMMAND, level=level, mounts=python_mounts(), scratch=scratch, limits=LIMITS)
    finally:
        remove_tree(scratch)


if __name__ == "__main__":
    sys.exit(main())
