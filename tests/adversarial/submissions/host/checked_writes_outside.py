"""Files of the harness, of Python and of the system are changed.

How: a `.pth` file in site-packages, the harness's own modules, a shell profile. Seen: follows from running as the
harness's user. Defence: all but its own folders is read-only or out of sight.
"""
# expected: CHECKED checked

import os
import sysconfig

from forging import custom_kernel  # noqa: F401

import harness

written = []
for folder in (
    sysconfig.get_path("purelib"),
    harness.__path__[0],
    "/usr/lib",
    "/etc",
    "/root",
    "/",
    "/dev",
    "/submissions",
):
    for name in ("zzz.pth", "sitecustomize.py", "evil"):
        try:
            with open(os.path.join(folder, name), "x"):
                written.append(folder)
        except OSError:
            continue
assert not written, written
