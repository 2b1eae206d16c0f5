"""How untrusted code is run. This package owns levels, limits and the safe reading of results.

It knows nothing of submissions, plans or verdicts, and never runs untrusted code in its own process.

    level = best_level().level
    with start([sys.executable, "-I", "-m", "harness.trace"], level=level, mounts=python_mounts(),
               scratch=folder, limits=limits) as job:
        for line in job.lines(): ...
        end = job.wait()
    plan = read_result(folder, "plan.json", max_bytes)

A parent calls `start` or `run`; `spawn` tells the launcher what to do; `starting` has it forked from a small process
that runs `fork_server`; `launcher` and `kernel` run in the fork and give up its rights; `strict` (bubblewrap) and
`seccomp` say which; `job` watches it with `meter` and `output`; `probe` says what a machine lacks.
"""

from harness.sandbox.contract import HOST_DISK, Exit, Level, LevelReport, Limits, Mount, visible, visible_scratch
from harness.sandbox.interpreter import python_mounts
from harness.sandbox.job import Job, run, start
from harness.sandbox.probe import best_level, find_missing, probe_levels, why_not
from harness.sandbox.results import read_result, remove_tree

__all__ = [
    "HOST_DISK",
    "Exit",
    "Job",
    "Level",
    "LevelReport",
    "Limits",
    "Mount",
    "best_level",
    "find_missing",
    "probe_levels",
    "python_mounts",
    "read_result",
    "remove_tree",
    "run",
    "start",
    "visible",
    "visible_scratch",
    "why_not",
]
