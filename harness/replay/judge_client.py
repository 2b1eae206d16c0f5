"""The parent's side of the judge: starts it, asks it, and reads its answers. Imports no torch.

The judge runs our code and the problem's reference.py, so its messages are believed; but reference.py can crash it or
run for ever, and then the error says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import harness
from harness.errors import SpecError, UsageError, WorkerError
from harness.replay.judgement import Judgement, MadeInputs, parse_judgement
from harness.replay.lines import Lines

DEFAULT_TIMEOUT_S = 600.0
_STDERR_BYTES = 4000
_LINE_BYTES = 64 << 20
_GRACE_S = 5.0
_PACKAGE_ROOT = Path(harness.__file__).resolve().parent.parent


class JudgeProcess:
    """One judge for one problem, as a context manager.

    Args:
        problem_dir: the problem's folder.
        timeout_s: how long one answer may take.

    Raises:
        SpecError: the problem or its reference.py can't be loaded.
        WorkerError: the process did not come up.
    """

    def __init__(self, problem_dir: Path, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        self._problem_dir = problem_dir.resolve()
        self._timeout_s = timeout_s
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        path = os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "harness.replay.judge", str(self._problem_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=_PACKAGE_ROOT,
            # Threads that wait for their share must sleep: on a busy machine spinning costs ten times the work itself.
            env={"OMP_WAIT_POLICY": "passive", **os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._lines = Lines(self._process.stdout.fileno(), _LINE_BYTES)
        try:
            self._read_reply("start")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> JudgeProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def make_inputs(self, shape: Mapping[str, int], distribution: str, seed: int, file: Path) -> MadeInputs:
        """Have the inputs of one call made and written to a file.

        Args:
            shape: axis sizes.
            distribution: the input distribution.
            seed: a 63-bit secret of the parent's, made by `secrets` at run time.
            file: where to write; what stands there is replaced.

        Raises:
            SpecError: reference.py is at fault.
            WorkerError: the judge died or failed.
        """
        reply = self._ask("inputs", shape, distribution, seed, file)
        return MadeInputs(file, reply["tensors"], reply["bytes"])

    def compare(
        self, shape: Mapping[str, int], distribution: str, seed: int, file: Path, *, sampled: bool = False
    ) -> Judgement:
        """Have a runner's file of outputs judged against the inputs made from the same seed.

        Args:
            shape: axis sizes.
            distribution: the input distribution.
            seed: the seed that the inputs were made from.
            file: the runner's file.
            sampled: only some programs ran; the file's "stored-" masks say which elements count.

        Raises:
            SpecError: reference.py is at fault.
            WorkerError: the judge died or failed.
        """
        return parse_judgement(self._ask("compare", shape, distribution, seed, file, sampled=sampled)["judgement"])

    def close(self) -> None:
        """End the process, gently first."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def _ask(
        self, do: str, shape: Mapping[str, int], distribution: str, seed: int, file: Path, **extra: bool
    ) -> dict[str, Any]:
        case = {"shape": dict(shape), "distribution": distribution}
        message = {"do": do, "case": case, "seed": seed, "file": str(file.resolve().parent / file.name), **extra}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death(do) from None
        return self._read_reply(do)

    def _read_reply(self, doing: str) -> dict[str, Any]:
        """Read one line within the time limit and turn an error reply into an exception."""
        try:
            line = self._lines.read(self._timeout_s)
        except TimeoutError:
            raise self._overdue(doing) from None
        except EOFError:
            raise self._death(doing) from None
        reply: dict[str, Any] = json.loads(line)
        error = reply.get("error")
        if error is None:
            return reply
        if error["kind"] == "spec":
            raise SpecError(error["message"])
        if error["kind"] == "usage":
            raise UsageError(error["message"])
        raise WorkerError(f"the judge failed at {doing!r}: {error['message']}\n{self._stderr_tail()}")

    def _overdue(self, doing: str) -> WorkerError:
        """End a judge that doesn't answer; its abort handler prints where it was."""
        self._process.send_signal(signal.SIGABRT)
        self._wait_or_kill()
        return WorkerError(
            f"the judge did not answer {doing!r} within {self._timeout_s:g} s.{self._blame()}\n{self._stderr_tail()}"
        )

    def _death(self, doing: str) -> WorkerError:
        self._wait_or_kill()
        code = self._process.returncode
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return WorkerError(f"the judge ended {how} at {doing!r}.{self._blame()}\n{self._stderr_tail()}")

    def _wait_or_kill(self) -> None:
        try:
            self._process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _blame(self) -> str:
        """Point at reference.py where the traceback does."""
        reference = str(self._problem_dir / "reference.py")
        return (
            f" The problem's {reference} is at fault: see the lines below." if reference in self._stderr_tail() else ""
        )

    def _stderr_tail(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(size - _STDERR_BYTES, 0))
        tail = self._stderr.read().decode("utf-8", "replace").strip()
        self._stderr.seek(0, os.SEEK_END)
        return tail
