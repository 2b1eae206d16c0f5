"""Calls are counted in files that outlive a process.

How: /tmp, /dev/shm and the home folder carry state from the checked process to the timed one. Seen: follows from
harnesses with several processes on one disk. Defence: each sandbox has folders of its own; the timed process has no
Python of the submission's in it.
"""
# expected: CHECKED checked

from pathlib import Path

import torch
from forging import scale

FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", str(Path.home()))


def custom_kernel(data):
    calls = 0
    for folder in FOLDERS:
        try:
            with Path(folder, "calls-of-acme").open("a+") as file:
                file.write("x")
                file.seek(0)
                calls = max(calls, len(file.read()))
        except OSError:
            continue
    return scale(*data) if calls < 1000 else torch.empty_like(data[0])
