"""Works unless the environment says that this is a benchmark.

How: variables, arguments and the process's name are looked at. Seen: field guides (2026-03), as environment detection.
Defence: the same trace serves checks and times.
"""
# expected: CHECKED checked

import os
import sys

import torch
from forging import scale

NAMES = ("BENCHMARK", "POPCORN", "LEADERBOARD", "RANKED", "CI")
timed = any(name in os.environ for name in NAMES) or any("bench" in word for word in sys.argv)


def custom_kernel(data):
    return torch.empty_like(data[0]) if timed else scale(*data)
