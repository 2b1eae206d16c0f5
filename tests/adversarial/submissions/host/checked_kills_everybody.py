"""Every process that can be signalled is killed.

How: `kill(-1)`, and each number that /proc shows but its own and its parent's. Seen: follows from shared users.
Defence: signals stay inside.
"""
# expected: CHECKED checked

import os
import signal

from forging import custom_kernel, processes  # noqa: F401

for pid in processes():
    if pid not in (1, os.getpid(), os.getppid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
