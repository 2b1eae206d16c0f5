"""Running the node's program and reading what it says: on this machine's GPU, or through any command that leads to one.

A node is another process, perhaps on somebody else's machine, and what it says is hostile: its lines are capped, parsed
and checked (`parse_report`), and what is not one of the expected events is dropped.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import WorkerError
from harness.replay.node.pack import build_node

LINE_BYTES = 32 << 20
ERROR_BYTES = 4000
_GRACE_S = 5.0


@dataclass(frozen=True)
class LocalGpu:
    """A GPU of this machine: its name and compute capability."""

    name: str
    capability: tuple[int, int]


def find_local_gpu() -> LocalGpu | None:
    """Return the first GPU that the driver's own tool lists, None where there is none. Imports no torch."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = [tool, "--query-gpu=name,compute_cap", "--format=csv,noheader"]
    try:
        result = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    name, _, capability = result.stdout.partition("\n")[0].partition(",")
    major, _, minor = capability.strip().partition(".")
    if result.returncode or not major.isdigit() or not minor.isdigit():
        return None
    return LocalGpu(name.strip(), (int(major), int(minor)))


def local_node(state: Path) -> list[str]:
    """Return the command that runs the node's program here; the file is built anew."""
    archive = state / "node.pyz"
    build_node(archive)
    return [sys.executable, str(archive)]


def run_node(command: Sequence[str], timeout_s: float) -> Iterator[dict[str, Any]]:
    """Run a node's command and yield its events as they come.

    Args:
        command: what starts the node's program, arguments included.
        timeout_s: for all of it.

    Raises:
        WorkerError: it took too long, said too much, or ended without a report; the message carries its own words.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    lines = _Lines(process, time.monotonic() + timeout_s)
    told, reported = "", False
    try:
        for line in lines:
            event = _parse(line)
            if event.get("event") == "error":
                told = str(event.get("message", ""))[:ERROR_BYTES]
            reported = reported or event.get("event") == "report"
            if event:
                yield event
    finally:
        _end(process, _GRACE_S if reported else 0)
    if not reported:
        why = told or lines.error.decode("utf-8", "replace").strip()[-ERROR_BYTES:] or f"exit code {process.returncode}"
        raise WorkerError(f"the GPU node ended without a report: {why}")


class _Lines:
    """The lines of a process's stdout, within a deadline; `error` is the end of its stderr."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process, self._deadline = process, deadline
        self.error = b""

    def __iter__(self) -> Iterator[bytes]:
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        buffer = b""
        with selectors.DefaultSelector() as selector:
            for stream in (out, err):
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(self._deadline - time.monotonic(), 0))
                if not ready:
                    raise WorkerError("the GPU node took longer than the replay's time limit")
                for key, _ in ready:
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is err:
                        self.error = (self.error + data)[-ERROR_BYTES:]
                    else:
                        *whole, buffer = (buffer + data).split(b"\n")
                        yield from whole
                        if len(buffer) > LINE_BYTES:
                            raise WorkerError("the GPU node sent a line that is too long")


def _parse(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _end(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the node and every process that it started."""
    if process.poll() is None:
        try:
            process.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
