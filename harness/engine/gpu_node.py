"""Running the node's program and reading what it says: on this machine's GPU, or through any command that leads to one.

A node is another process, perhaps on somebody else's machine, and what it says is hostile: its lines are capped, parsed
and checked (`parse_report`), and what is not one of the expected events is dropped.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.engine.local_gpus import LocalGpu, find_gpu_of
from harness.errors import WorkerError
from harness.replay.node.pack import build_node
from harness.strict_json import parse_object
from harness.target import Target
from harness.text import clean

LINE_BYTES = 32 << 20
WORDS_BYTES = 2 * LINE_BYTES  # in all
ERROR_BYTES = 4000
DESCRIBE_S = 120.0
WAIT_S = 1800.0  # for other replays on the node's GPU
MOST_WAITS = 2
_GRACE_S = 5.0
_POLL_S = 0.005


class NodeLacksError(WorkerError):
    """The node cannot replay anything: it has no GPU, no torch, or lacks a package. Says nothing of the artifact."""


class UnreachableError(WorkerError):
    """The node cannot be reached, or the connection to it was lost."""


def local_node(state: Path, gpu: LocalGpu | None = None) -> list[str]:
    """Return the command that runs the node's program here, on one GPU; the file is built anew.

    Args:
        state: the folder that the file is put in.
        gpu: the only one that it will see; the driver's first by default.
    """
    archive = state / "node.pyz"
    build_node(archive)
    chosen = ["env", f"CUDA_VISIBLE_DEVICES={gpu.uuid}"] if gpu is not None and gpu.uuid else []
    return [*chosen, sys.executable, str(archive)]


def find_node(target: Target, state: Path) -> list[str] | None:
    """Return the command that replays on this machine's GPU of a target, None where there is none."""
    gpu = find_gpu_of(target)
    return local_node(state, gpu) if gpu is not None else None


def describe_gpu(command: Sequence[str]) -> LocalGpu:
    """Ask a node what GPU it has.

    Args:
        command: starts the node's program, without arguments.

    Raises:
        NodeLacksError, UnreachableError, WorkerError: it has none, cannot be reached, or says something else.
    """
    for event in run_node([*command, "describe"], DESCRIBE_S, wanted="node"):
        if event.get("event") == "node":
            facts = event.get("machine")
            name, capability = (facts.get("gpu"), facts.get("capability")) if isinstance(facts, dict) else (None, None)
            if isinstance(name, str) and isinstance(capability, str):
                major, _, minor = capability.partition(".")
                if major.isdecimal() and minor.isdecimal() and len(capability) < 8:
                    return LocalGpu(clean(name)[:100], (int(major), int(minor)))
    raise WorkerError("the node's description of its GPU is not of the form: is there another version of the harness?")


def run_node(command: Sequence[str], timeout_s: float, wanted: str = "report") -> Iterator[dict[str, Any]]:
    """Run a node's command and yield its events as they come.

    Args:
        command: what starts the node's program, arguments included.
        timeout_s: for all of it, beside waiting for another replay on its GPU to end.
        wanted: the event without which it has failed.

    Raises:
        NodeLacksError: it cannot replay at all, and says what it lacks.
        UnreachableError: it cannot be reached, or the connection was lost.
        WorkerError: it took too long, said too much, or ended without what was wanted, with its own words.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    lines = _Lines(process, time.monotonic() + timeout_s)
    failure: WorkerError | None = None
    done = said_all = False
    try:
        for line in lines:
            event = parse_object(line) or {}
            if event.get("event") in ("waiting", "turn"):
                lines.expect(event["event"], timeout_s)
            if event.get("event") == "error":
                failure = _failure(event)
            done = done or event.get("event") == wanted
            if event:
                yield event
        said_all = True
    finally:
        _end(process, _GRACE_S if done or said_all else 0)
    if not done:
        why = lines.error.decode("utf-8", "replace").strip()[-ERROR_BYTES:] or f"exit code {process.returncode}"
        raise failure or WorkerError(f"the GPU node ended without a {wanted}: {why}")


def _failure(event: dict[str, Any]) -> WorkerError:
    """Return the error that a node tells of."""
    told = str(event.get("message", ""))[:ERROR_BYTES]
    kinds = {"lacks": NodeLacksError, "unreachable": UnreachableError}
    kind = kinds.get(str(event.get("kind")))
    return kind(told) if kind else WorkerError(f"the GPU node ended without a report: {told}")


class _Lines:
    """The lines of a process's stdout, within a deadline; `error` is the end of its stderr."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process, self._deadline = process, deadline
        self._expected = Counter[str]()
        self.error = b""

    def expect(self, event: str, timeout_s: float) -> None:
        """Move the deadline: a node waits for its GPU, or its turn has come; it may want it alone later."""
        self._expected[event] += 1
        if self._expected[event] <= MOST_WAITS:
            self._deadline = time.monotonic() + (WAIT_S if event == "waiting" else timeout_s)

    def __iter__(self) -> Iterator[bytes]:
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        buffer, left_bytes = b"", WORDS_BYTES
        with selectors.DefaultSelector() as selector:
            for stream in (out, err):
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                left_s = self._deadline - time.monotonic()
                ready = selector.select(max(left_s, 0))
                if left_s < 0 or not ready:
                    raise WorkerError("the GPU node took longer than the replay's time limit")
                for key, _ in ready:
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is err:
                        self.error = (self.error + data)[-ERROR_BYTES:]
                    else:
                        *whole, buffer = (buffer + data).split(b"\n")
                        left_bytes -= len(data)
                        yield from whole
                        if len(buffer) > LINE_BYTES:
                            raise WorkerError("the GPU node sent a line that is too long")
                        if left_bytes < 0:
                            raise WorkerError(f"the GPU node sent more than {WORDS_BYTES >> 20} MiB of words")


def _end(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the node and every process that it started."""
    deadline = time.monotonic() + grace_s
    while _runs(process) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    os.killpg(process.pid, signal.SIGKILL)  # its group has its number until it is waited for, even if it has ended
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _runs(process: subprocess.Popen[bytes]) -> bool:
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None
