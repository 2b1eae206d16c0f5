"""What machine a record was made on: kept with every record, so that a score can be understood later."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from harness.engine.worker import available_cores


def describe_machine() -> dict[str, str | int]:
    """Return the processor, cores, memory in bytes, kernel and Python of this machine; no names or addresses."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _processor(),
        "cores": available_cores(),
        "memory_bytes": pages * size,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()
