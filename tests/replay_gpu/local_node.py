"""A replay by the node's own program on this machine, and what it reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TIMEOUT_S = 120.0


def start_replay(node: Path, folder: Path) -> subprocess.Popen[str]:
    """Start the replay of what `building.export` wrote; the caller reads its events and waits for its end."""
    command = [sys.executable, node, "replay", folder / "artifact", folder / "problem", folder / "request.json"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([str(part) for part in command], **pipes)


def read_report(node: Path, folder: Path) -> dict[str, Any]:
    """Replay what `building.export` wrote; return the report."""
    with start_replay(node, folder) as replaying:
        try:
            out, error = replaying.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            replaying.kill()
            raise
    events = [json.loads(line) for line in out.splitlines()]
    assert (events[-1]["event"], replaying.returncode) == ("report", 0), (events, replaying.returncode, error[-2000:])
    report: dict[str, Any] = events[-1]["report"]
    return report


def replay(node: Path, folder: Path) -> list[dict[str, Any]]:
    """Replay what `building.export` wrote; return its cases as reported."""
    cases: list[dict[str, Any]] = read_report(node, folder)["cases"]
    return cases
