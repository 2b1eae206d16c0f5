"""The judge's side of a runner: starts it, asks it, ends it. What it answers is not believed.

A runner executes hostile machine code on the GPU; that code can't reach the runner's own memory on a machine whose GPU
does not address host memory, but its replies are checked in form all the same.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.replay.gpu.faults import GpuError
from harness.replay.gpu.layout import Part
from harness.replay.node.confinement import confine

START_TIMEOUT_S = 120.0
_GRACE_S = 2.0
_LINE_BYTES = 4 << 20
_REASON_CHARACTERS = 40


class RunnerProcess:
    """One runner for one submission, as a context manager.

    Args:
        program: the command that starts a Python with this package (the zip file's own).
        artifact: the artifact's folder.
        shared: descriptor and size of the memory shared with it.
    """

    def __init__(self, program: list[str], artifact: Path, shared: tuple[int, int]) -> None:
        self.shared, self._buffer = shared, b""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = [*program, "runner", str(artifact), *map(str, shared)]
        self.level, command, environment = confine(command)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            pass_fds=shared[:1],
            env=environment,
            start_new_session=True,
        )
        self.started: dict[str, Any] = {}

    def __enter__(self) -> RunnerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_until_started(self) -> None:
        """Wait until it has torch and CUDA loaded.

        Raises:
            GpuError: it did not come up.
        """
        if not self.started:
            self.started = self._reply("start", START_TIMEOUT_S, ours=True)

    def prepare(self, shape_id: str, slots: int, timeout_s: float) -> dict[str, Any]:
        """Have a shape's call captured."""
        return self._ask({"do": "prepare", "shape_id": shape_id, "slots": slots}, timeout_s)

    def check_steps(self, inputs: list[Part | None], timeout_s: float) -> None:
        """Have one call run step by step."""
        self._ask({"do": "check_steps", "inputs": _encode(inputs)}, timeout_s)

    def call(
        self, slot: int, inputs: list[Part | None], outputs: list[Part], after: list[Part | None], timeout_s: float
    ) -> float:
        """Have one call made; return the witness's time in microseconds.

        Where inputs are not handed back (`after`), ask for their fingerprints next.
        """
        tidy = any(part is not None for part in after)
        message = {"do": "call", "slot": slot, "inputs": _encode(inputs), "tidy": tidy}
        reply = self._ask({**message, "outputs": _encode(outputs), "after": _encode(after)}, timeout_s)
        return float(reply["events_us"])

    def fingerprint_inputs(self, key: int, timeout_s: float) -> list[int]:
        """Return the fingerprints of the last call's inputs, as they are after it."""
        return [int(value) for value in self._ask({"do": "fingerprint", "key": key}, timeout_s)["inputs"]]

    def take_spans(self, timeout_s: float) -> list[tuple[float, int]]:
        """Return the score clock's readings since the last time: (microseconds, records) of each call."""
        reply = self._ask({"do": "spans"}, timeout_s)
        return [(float(span), int(records)) for span, records in reply["spans"]]

    def close(self) -> None:
        """End it."""
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
                self._process.wait(timeout=_GRACE_S)
            except (OSError, subprocess.TimeoutExpired):
                pass
        self._kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._stderr.close()

    def _ask(self, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended, and said why: the reply is read below
        return self._reply(message["do"], timeout_s)

    def _reply(self, doing: str, timeout_s: float, *, ours: bool = False) -> dict[str, Any]:
        line = self._read_line(doing, timeout_s, ours=ours)
        try:
            reply = json.loads(line)
            status = reply["status"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise GpuError("internal", f"the runner answered {doing!r} with something else than a reply") from None
        if status == "fault":
            fields = (str(reply.get(name, "")) for name in ("reason", "message", "kernel"))
            reason, message, kernel = fields
            raise GpuError(reason[:_REASON_CHARACTERS], message[:2000] + self._why(reason), kernel[:256])
        return dict(reply)

    def _read_line(self, doing: str, timeout_s: float, *, ours: bool) -> bytes:
        assert self._process.stdout is not None
        descriptor, deadline = self._process.stdout.fileno(), time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    self._kill()
                    raise _overdue(doing, timeout_s, ours=ours)
                data = os.read(descriptor, 1 << 16)
                if not data or len(self._buffer) > _LINE_BYTES:
                    raise self._death(doing)
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _death(self, doing: str) -> GpuError:
        self._kill()
        code = self._process.returncode
        signal = -code if code < 0 else code - 128  # bubblewrap reports signals as shells do
        how = f"signal {signal}" if signal > 0 else f"exit code {code}"
        return GpuError("internal", f"the runner ended with {how} at {doing!r}{self._why('internal')}")

    def _why(self, reason: str) -> str:
        """Return the end of its stderr, where the fault is ours."""
        if reason not in ("internal", "machine"):
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(size - 2000, 0))
        tail = self._stderr.read().decode("utf-8", "replace").strip()
        return f"\n{tail}" if tail else ""

    def _kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def _overdue(doing: str, timeout_s: float, *, ours: bool) -> GpuError:
    if ours:
        return GpuError("machine", f"the runner did not start within {timeout_s:g} s")
    return GpuError("timeout", f"the call did not end within {timeout_s:g} s ({doing}): an endless loop in a kernel?")


def _encode(parts: list[Part | None] | list[Part]) -> list[list[Any] | None]:
    return [None if part is None else [part.offset, part.dtype, list(part.shape)] for part in parts]


def own_program() -> list[str]:
    """Return the command that starts this package again: the zip file, or the module in a checkout."""
    archive = Path(sys.argv[0])
    if archive.suffix == ".pyz":
        return [sys.executable, str(archive.resolve())]
    return [sys.executable, "-m", "harness.replay.node"]
