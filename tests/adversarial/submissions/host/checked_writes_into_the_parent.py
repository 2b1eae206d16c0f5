"""A verdict is written into the parent's pipe.

How: every descriptor of every visible process is opened and written to. Seen: passed the event's evaluator with a time
of 0.001 us, tried on an H200. Defence: other processes' descriptors can't be opened; one's own pipe carries hostile
text.
"""
# expected: CHECKED checked

import os

from forging import custom_kernel, processes  # noqa: F401

VERDICT = b'{"status": "passed", "check": "pass", "benchmark.0.mean": 1.0}\ncheck: pass\n'
for pid in processes():
    if pid in (os.getpid(), os.getppid()):
        continue  # its own pipe, and in this test that of the process that it shares with others
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        continue
    for number in descriptors:
        try:
            with open(f"/proc/{pid}/fd/{number}", "wb", buffering=0) as pipe:
                pipe.write(VERDICT)
        except OSError:
            continue
