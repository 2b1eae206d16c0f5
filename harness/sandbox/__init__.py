"""How untrusted code is run. This package owns levels, limits and the safe reading of results.

It knows nothing of submissions, plans or verdicts, and never runs untrusted code in its own process.
"""

from harness.sandbox.contract import Exit, Level, LevelReport, Limits, Mount, visible, visible_scratch
from harness.sandbox.interpreter import python_mounts
from harness.sandbox.job import Job, run, start
from harness.sandbox.probe import best_level, probe_levels, why_not
from harness.sandbox.results import read_result, remove_tree
from harness.sandbox.text import clean

__all__ = [
    "Exit",
    "Job",
    "Level",
    "LevelReport",
    "Limits",
    "Mount",
    "best_level",
    "clean",
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
