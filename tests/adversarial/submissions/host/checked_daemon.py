"""A grandchild outlives the process, and with it the time limit.

How: two forks and a new session; it goes on when the parent has the results. Seen: common way round timeouts. Defence:
a namespace, or a supervisor that adopts orphans, ends with everything in it.
"""
# expected: CHECKED checked

import os
import time

from forging import custom_kernel  # noqa: F401

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(600)
    os._exit(0)
os.wait()
