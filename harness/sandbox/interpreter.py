"""What a sandboxed Python needs to read: the interpreter, its environment, and the harness package.

Every mount keeps its path, because a virtual environment holds absolute ones. Only the package folder of the
harness is mounted, not the repository round it, where submissions and records lie.
"""

# Follows links by text, one hop at a time.
# ruff: noqa: PTH110, PTH112, PTH114, PTH115, PTH118, PTH120

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import harness
from harness.sandbox.contract import Mount

_ALREADY_THERE = ("/usr",)


@functools.cache
def python_mounts() -> tuple[Mount, ...]:
    """Return the mounts with which `sys.executable` runs in a sandbox and can import `harness`."""
    paths = [sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix]
    paths += [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    paths += _links_to(sys.executable)
    paths += [str(Path(folder).absolute()) for folder in harness.__path__]
    chosen: list[str] = []
    for path in sorted(map(os.path.normpath, dict.fromkeys(paths))):
        if os.path.exists(path) and not _is_below(path, (*_ALREADY_THERE, *chosen)):
            chosen.append(path)
    return tuple(Mount(Path(path), path) for path in chosen)


def _links_to(executable: str) -> list[str]:
    """The installations, or else the bare files, that a chain of symbolic links leads through."""
    found = []
    hop = executable
    for _ in range(40):
        prefix = os.path.dirname(os.path.dirname(hop))
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        found.append(prefix if os.path.isdir(os.path.join(prefix, "lib", version)) else hop)
        if not os.path.islink(hop):
            return found
        hop = os.path.join(os.path.dirname(hop), os.readlink(hop))
    return found


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
