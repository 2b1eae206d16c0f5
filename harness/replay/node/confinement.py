"""How a runner is confined on a node: no submitted Python runs in it, so this is a second wall.

With bubblewrap it sees a read-only system, the GPU's device nodes, no network and no other process. Without it, it
loses its environment and sees one GPU. The level is reported and stored with the record.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

_KEPT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "VIRTUAL_ENV", "LANG")
_FIXED = {"CUDA_MODULE_LOADING": "LAZY", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "HOME": "/tmp"}  # noqa: S108


def confine(command: list[str]) -> tuple[str, list[str], dict[str, str]]:
    """Return the level, the command and the environment that a runner is started with.

    Args:
        command: what starts it.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _FIXED
    environment.setdefault("CUDA_VISIBLE_DEVICES", "0")
    if not _bubblewrap_works():
        return "process", command, environment
    return "bubblewrap", [*_bubblewrap(), *command], environment


def _bubblewrap() -> list[str]:
    devices = [str(path) for path in sorted(Path("/dev").glob("nvidia*"))]
    binds = [part for device in devices for part in ("--dev-bind", device, device)]
    isolation = [
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-pid",
        "--die-with-parent",
        "--new-session",
    ]
    return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", *binds, "--proc", "/proc", *isolation]


@lru_cache(maxsize=1)
def _bubblewrap_works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    probe = [*_bubblewrap(), "true"]
    return subprocess.run(probe, capture_output=True, timeout=20, check=False).returncode == 0
