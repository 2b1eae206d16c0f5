"""Slow in the beginning, so that a harness takes fewer samples.

How: the first calls sleep; harnesses that choose their repetitions by a first measurement then take two. Seen: the
"sleepy cache" of gpu-mode/reference-kernels (pull request 170, 2026-08). Defence: host time is no part of a plan.
"""
# expected: CHECKED checked

import time

from forging import scale

calls = 0


def custom_kernel(data):
    global calls
    calls += 1
    if calls < 3:
        time.sleep(0.05)
    return scale(*data)
