"""Environments, memories, descriptors and files of everybody are searched for secrets.

How: /proc of every visible process, files at the usual places, and a planted one. Seen: the event's evaluator gave its
parent's pipe away through /proc, tried on an H200. Defence: namespaces or Landlock; `tests/sandbox` tries each way by
itself, at each level, as root and as an ordinary user.
"""
# expected: CHECKED checked

import os
from pathlib import Path

from forging import custom_kernel, processes  # noqa: F401

SECRET = b"the-secret-of-" + b"this-test-run"
found = []
for pid in processes():
    for name in ("environ", "cmdline", "fd", "root", "cwd", "task"):
        path = Path(f"/proc/{pid}/{name}")
        try:
            content = repr(sorted(os.listdir(path))).encode() if path.is_dir() else path.read_bytes()
        except OSError:
            continue
        found += [path] if SECRET in content else []
for path in (
    "/etc/shadow",
    "/root/.ssh/id_rsa",
    "/run/secrets",
    os.path.expanduser("~/.netrc"),
):
    found += [path] if os.access(path, os.R_OK) else []
assert not any(SECRET in value for value in map(os.fsencode, os.environ.values()))
assert not found, found
