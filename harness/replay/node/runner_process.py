"""The judge's side of a runner: starts it, asks it, ends it. What it answers is not believed.

A runner executes hostile machine code on the GPU; that code can't reach the runner's own memory on a machine whose GPU
does not address host memory, but its replies are checked in form all the same.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import SandboxError
from harness.replay.gpu.faults import GpuError
from harness.replay.gpu.layout import Part
from harness.replay.lines import AWAKE_S, Lines
from harness.replay.node.confinement import Confined, confine
from harness.sandbox import Level, find_missing
from harness.strict_json import parse_object

START_TIMEOUT_S = 120.0
PREPARE_TIMEOUT_S = 60.0  # no submitted code runs meanwhile: what takes long is the machine
_LINE_BYTES = 4 << 20
_REASON_CHARACTERS = 40
_WHY_CHARACTERS = 160


class RunnerProcess:
    """One runner for one submission, as a context manager.

    It runs at the highest sandbox level at which it comes up; why not at a higher one is in `why_lower`.

    Args:
        program: the command that starts a Python with this package (the zip file's own).
        artifact: the artifact's folder.
        shared: descriptor and size of the memory shared with it.
        best: the highest level to try.

    Attributes:
        gpu_memory: descriptor and size of GPU memory that is offered to it at its start, instead of `shared`.
    """

    def __init__(self, program: list[str], artifact: Path, shared: tuple[int, int], best: Level = Level.STRICT) -> None:
        self.shared, self._program, self._artifact = shared, program, artifact
        self.gpu_memory: tuple[int, int] | None = None
        self._levels = list(Level)[list(Level).index(best) :]
        self.why_lower: list[str] = []
        self.started: dict[str, Any] = {}
        self._loaded = self._begun = False
        self._confined = self._launch()
        self._lines = Lines(self._confined.replies, _LINE_BYTES, AWAKE_S)

    @property
    def level(self) -> Level:
        """The sandbox level that it runs at."""
        return self._confined.level

    def __enter__(self) -> RunnerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_until_loaded(self) -> None:
        """Wait until it has torch loaded. It does nothing with the GPU before it is started.

        Raises:
            GpuError: it did not come up at any level.
        """
        while not self._loaded:
            try:
                self._loaded = bool(self._reply("load", START_TIMEOUT_S, ours=True))
            except GpuError as fault:
                self._try_lower(fault)

    def wait_until_started(self) -> None:
        """Start it, and wait until it has a CUDA context; one that does not come up is tried again a level lower.

        Raises:
            GpuError: it did not come up at any level.
        """
        while not self.started:
            self.wait_until_loaded()
            try:
                self.begin()
                self.started = self._reply("start", START_TIMEOUT_S, ours=True)
            except GpuError as fault:
                self._try_lower(fault)

    def begin(self) -> None:
        """Tell it to start, once; `wait_until_started` waits. It must be loaded."""
        if self._begun:
            return
        self._begun = True
        descriptor, size = self.gpu_memory or (-1, 0)
        with contextlib.suppress(OSError):  # where it has ended it said why: the reply is read below
            if size:
                socket.send_fds(self._confined.channel, [b"."], [descriptor])
            self._send({"do": "start", "gpu_bytes": size})

    def _try_lower(self, fault: GpuError) -> None:
        """Launch it at the next level; where there is none, the fault is the answer."""
        if not self._levels:
            raise fault
        self._give_up(self.level, fault.message)
        self._confined.close()
        self._confined, self._loaded, self._begun = self._launch(), False, False
        self._lines = Lines(self._confined.replies, _LINE_BYTES, AWAKE_S)

    def _launch(self) -> Confined:
        """Start it at the highest level that is left."""
        while True:
            level = self._levels.pop(0)
            missing = find_missing(level)
            if missing and self._levels:
                self._give_up(level, missing)
                continue
            try:
                return confine(self._program, self._artifact, self.shared, level)
            except SandboxError as error:
                if not self._levels:
                    raise GpuError("machine", f"the runner could not be started: {error}") from None
                self._give_up(level, str(error))

    def _give_up(self, level: Level, why: str) -> None:
        self.why_lower.append(f"not {level}: {(why.strip().splitlines() or [''])[-1]}"[:_WHY_CHARACTERS])

    def prepare(self, shape_id: str, slots: int) -> None:
        """Have a shape's kernels loaded, for several slots."""
        self._ask({"do": "prepare", "shape_id": shape_id, "slots": slots}, PREPARE_TIMEOUT_S, ours=True)

    def check_steps(self, inputs: list[Part | None], timeout_s: float) -> None:
        """Have one call run step by step."""
        self._ask({"do": "check_steps", "inputs": _encode(inputs)}, timeout_s)

    def capture(self) -> int:
        """Have the call captured in every slot; return how many nodes its graph has."""
        reply = self._ask({"do": "capture"}, PREPARE_TIMEOUT_S, ours=True)
        with _read_reply("capture"):
            return int(reply["nodes"])

    def call(
        self,
        slot: int,
        inputs: list[Part | None],
        outputs: list[Part],
        after: list[Part | None],
        timeout_s: float,
        *,
        other_poison: bool,
    ) -> float:
        """Have one call made; return the witness's time in microseconds.

        Args:
            slot: where.
            inputs: where each lies in the exchange, None for a buffer.
            outputs: where each goes.
            after: where each input goes, as the call leaves it.
            timeout_s: how long it may take.
            other_poison: what the next call finds in memory is drawn anew.

        Raises:
            GpuError: the call failed, or stored where it must not; its kernels were launched again then, to name one.
        """
        message = {"do": "call", "slot": slot, "other_poison": other_poison}
        parts = {"inputs": _encode(inputs), "outputs": _encode(outputs), "after": _encode(after)}
        reply = self._ask({**message, **parts}, timeout_s)
        with _read_reply("call"):
            return _positive(reply["events_us"])

    def take_spans(self, timeout_s: float) -> list[tuple[float, int]]:
        """Return the score clock's readings since the last time: (microseconds, records) of each call."""
        reply = self._ask({"do": "spans"}, timeout_s, ours=True)
        with _read_reply("spans"):
            return [(_positive(span), int(records)) for span, records in reply["spans"]]

    def close(self) -> None:
        """End it."""
        self._confined.close()

    def _ask(self, message: dict[str, Any], timeout_s: float, *, ours: bool = False) -> dict[str, Any]:
        with contextlib.suppress(OSError):  # where it has ended it said why: the reply is read below
            self._send(message)
        return self._reply(message["do"], timeout_s, ours=ours)

    def _send(self, message: dict[str, Any]) -> None:
        os.write(self._confined.requests, json.dumps(message).encode() + b"\n")

    def _reply(self, doing: str, timeout_s: float, *, ours: bool = False) -> dict[str, Any]:
        try:
            line = self._lines.read(timeout_s)
        except TimeoutError:
            self._confined.job.stop("overdue")
            raise _overdue(doing, timeout_s, ours=ours) from None
        except EOFError:
            raise self._death(doing) from None
        reply = parse_object(line)
        if reply is None or "status" not in reply:
            raise GpuError("internal", f"the runner answered {doing!r} with something else than a reply")
        status = reply["status"]
        if status == "fault":
            fields = (str(reply.get(name, "")) for name in ("reason", "message", "kernel"))
            reason, message, kernel = fields
            raise GpuError(reason[:_REASON_CHARACTERS], message[:2000] + self._why(reason), kernel[:256])
        return reply

    def _death(self, doing: str) -> GpuError:
        end = self._confined.end()
        how = f"signal {end.signal}" if end.signal is not None else f"exit code {end.code}"
        how = f"its limit of {end.limit}" if end.limit not in (None, "ended") else how
        return GpuError("internal", f"the runner ended with {how} at {doing!r}{self._why('internal')}")

    def _why(self, reason: str) -> str:
        """Return the end of its stderr, where the fault is ours."""
        if reason not in ("internal", "machine"):
            return ""
        tail = self._confined.end().stderr[-2000:].strip()
        return f"\n{tail}" if tail else ""


def _overdue(doing: str, timeout_s: float, *, ours: bool) -> GpuError:
    if ours:
        return GpuError("machine", f"the runner did not {doing} within {timeout_s:g} s")
    return GpuError("timeout", f"the call did not end within {timeout_s:g} s ({doing}): an endless loop in a kernel?")


@contextlib.contextmanager
def _read_reply(doing: str) -> Iterator[None]:
    """Blame a reply's form, if reading it fails, on the runner and not on this process."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError):
        raise GpuError("internal", f"the runner answered {doing!r} with something else than a reply") from None


def _positive(value: Any) -> float:
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError("a time is a positive number")
    return number


def _encode(parts: list[Part | None] | list[Part]) -> list[list[Any] | None]:
    return [None if part is None else [part.offset, part.dtype, list(part.shape)] for part in parts]


def own_program() -> list[str]:
    """Return the command that starts this package again: the zip file, or the module in a checkout."""
    archive = Path(sys.argv[0])
    if archive.suffix == ".pyz":
        return [sys.executable, str(archive.resolve())]
    return [sys.executable, "-m", "harness.replay.node"]
