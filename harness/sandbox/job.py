"""A running sandboxed process: its output, its limits, its end.

Each job has one thread that reads its output, measures it, and kills it when a limit is passed. Whatever
comes out of the process is hostile text: it is cleaned, cut and counted here, and never interpreted.
"""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from harness.sandbox.contract import HOST_DISK, Exit, Handed, Level, Limits, Mount
from harness.sandbox.meter import Meter, folder_bytes, free_bytes
from harness.sandbox.output import Output
from harness.sandbox.results import remove_tree
from harness.sandbox.spawn import PRIVATE_HOME, Spawned, spawn
from harness.sandbox.strict import MEMORY_FOLDERS

_POLL_S = 0.05
_WATCH_SHARE = 10  # watching takes at most a tenth of a core, however much there is to measure
_CHUNK_BYTES = 1 << 16
_LOW_DISK_BYTES = 1 << 30
_NO_DISK_BYTES = 64 << 20


def start(
    command: Sequence[str],
    *,
    level: Level,
    mounts: Sequence[Mount] = (),
    scratch: Path,
    limits: Limits,
    environment: Mapping[str, str] | None = None,
    stdin: bytes | int = b"",
    devices: Sequence[Path] = (),
    descriptors: Sequence[int] = (),
) -> Job:
    """Start a command in a sandbox.

    Args:
        command: the program by absolute path, as the process will see it (`visible`), and its arguments.
        level: how well to shut it in; see `best_level` for what this machine has.
        mounts: what it may read besides the system's /usr; `python_mounts` for Python programs.
        scratch: an existing folder of the caller's, the only one that the process can write and that outlives
            it; the process starts there. With root, it and what it holds change hands to another uid.
        limits: when to kill it.
        environment: variables beside HOME, PATH and the like. Never a secret.
        stdin: what it reads from standard input: bytes, or a descriptor of the caller's (a pipe's reading end).
        devices: device nodes that it may use; only for programs of ours.
        descriptors: open descriptors of the caller's that it keeps under their numbers; only for programs of ours.

    Raises:
        SandboxError: the sandbox could not be made.
    """
    handed = Handed(tuple(devices), tuple(descriptors))
    return Job(spawn(command, level, mounts, scratch, limits, environment or {}, stdin, handed), scratch, limits)


def run(
    command: Sequence[str],
    *,
    level: Level,
    mounts: Sequence[Mount] = (),
    scratch: Path,
    limits: Limits,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> tuple[str, Exit]:
    """Run a command in a sandbox to its end, as `start` does; return its standard output, cleaned, and its exit."""
    with start(
        command, level=level, mounts=mounts, scratch=scratch, limits=limits, environment=environment, stdin=stdin
    ) as job:
        output = "".join(f"{line}\n" for line in job.lines())
        return output, job.wait()


class Job:
    """A sandboxed process. As a context manager it leaves nothing running behind."""

    def __init__(self, spawned: Spawned, scratch: Path, limits: Limits) -> None:
        self._spawned = spawned
        self._scratch = scratch
        self._limits = limits
        self._meter = Meter(spawned.pid, MEMORY_FOLDERS if spawned.level is Level.STRICT else ())
        self._started_s = time.monotonic()
        self._peak_bytes = 0
        self._cpu_s = 0.0
        self._lock = threading.Lock()
        self._limit: str | None = None
        self._ended = False
        self._output = Output(limits.output_bytes)
        self._exit: Exit | None = None
        self._thread = threading.Thread(target=self._watch, name="sandbox-watch", daemon=True)
        self._thread.start()

    def __enter__(self) -> Job:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop("abandoned")
        self._thread.join()

    def lines(self) -> Iterator[str]:
        """Return the lines of standard output, cleaned, as they come; end when the process does."""
        return self._output.lines()

    def cpu_s(self) -> float:
        """Return the CPU seconds that the whole process tree has used so far."""
        return self._exit.cpu_s if self._exit is not None else self._meter.sample().cpu_s

    def stop(self, reason: str) -> None:
        """Kill the whole process tree; `reason` becomes the exit's limit. Does nothing after the end."""
        with self._lock:
            if self._limit is None and not self._ended:
                self._limit = reason
                self._spawned.kill()

    def wait(self) -> Exit:
        """Wait for the end of the process and of all its descendants."""
        self._thread.join()
        assert self._exit is not None
        return self._exit

    def _watch(self) -> None:
        try:
            self._follow()
        except OSError as error:  # say, no more descriptors: what cannot be watched must not run
            self.stop(f"the harness could not watch it: {error}")
        finally:
            self._reap()

    def _follow(self) -> None:
        stdout, stderr = (os.fdopen(end, "rb", buffering=0) for end in (self._spawned.stdout, self._spawned.stderr))
        end = os.fdopen(os.pidfd_open(self._spawned.pid), "rb", buffering=0)
        with selectors.DefaultSelector() as selector, stdout, stderr, end:
            selector.register(end, selectors.EVENT_READ)
            for pipe in (stdout, stderr):
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, pipe is stdout)
            next_check_s = 0.0
            while not self._read(selector, end.fileno()):
                if time.monotonic() >= next_check_s:
                    began_s = time.thread_time()  # not the clock: a tree that takes all cores must not slow its watch
                    self._check_limits()
                    spent_s = time.thread_time() - began_s
                    next_check_s = time.monotonic() + max(_POLL_S, spent_s * _WATCH_SHARE)
        if free_bytes(self._scratch) < _NO_DISK_BYTES:  # what it wrote since the last look may have failed
            self.stop(HOST_DISK)

    def _read(self, selector: selectors.BaseSelector, end: int) -> bool:
        """Wait for output, take it in; tell whether the process has ended."""
        ended = False
        for key, _ in selector.select(_POLL_S):
            if key.fd == end:
                ended = True
            else:
                self._drain(selector, key)
        if ended:
            for key in list(selector.get_map().values()):
                while key.fd != end and self._drain(selector, key):
                    pass
        return ended

    def _drain(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> bool:
        """Read one chunk; tell whether there may be more."""
        try:
            chunk = os.read(key.fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            selector.unregister(key.fileobj)
            return False
        if not self._output.take(chunk, is_stdout=key.data):
            self.stop("output")
        return True

    def _check_limits(self) -> None:
        limits, usage = self._limits, self._meter.sample()
        self._peak_bytes = max(self._peak_bytes, usage.memory_bytes)
        if time.monotonic() - self._started_s > limits.wall_s:
            self.stop("wall")
        elif limits.cpu_s is not None and usage.cpu_s > limits.cpu_s:
            self.stop("cpu")
        elif usage.memory_bytes > limits.memory_bytes and self._meter.shared_memory_bytes() > limits.memory_bytes:
            self.stop("memory")
        elif full := self._full_disk():
            self.stop(full)

    def _full_disk(self) -> str | None:
        """Say whose share of the disk is used up: the job's own, or the machine's by somebody else."""
        most = self._limits.scratch_bytes
        used = folder_bytes(self._scratch, most)
        if used > most:
            return "disk"
        if free_bytes(self._scratch) > _LOW_DISK_BYTES:
            return None
        # Files that were deleted but are still open have no name to measure.
        if used + self._meter.nameless_bytes(self._scratch) > most:
            return "disk"
        return HOST_DISK if free_bytes(self._scratch) < _NO_DISK_BYTES else None

    def _reap(self) -> None:
        cpu_s = self._meter.sample().cpu_s
        _, status, used = os.wait4(self._spawned.pid, 0)
        with self._lock:
            self._ended = True
        self._spawned.close(killed=os.WIFSIGNALED(status))  # a signal that ends the command is its exit code
        remove_tree(self._scratch / PRIVATE_HOME)
        code, signal = _split(os.waitstatus_to_exitcode(status))
        self._exit = Exit(
            code=code,
            signal=signal,
            limit=self._limit,
            cpu_s=max(cpu_s, used.ru_utime + used.ru_stime),
            wall_s=time.monotonic() - self._started_s,
            stderr=self._output.stderr(),
            peak_memory_bytes=self._peak_bytes,  # not ru_maxrss: until its exec, a child counts as large as we are
        )
        self._output.close()


def _split(status: int) -> tuple[int | None, int | None]:
    """An exit status as code or signal; bubblewrap and the launcher pass a signal on as 128 + signal."""
    if status < 0:
        return None, -status
    return (None, status - 128) if 128 < status < 128 + 65 else (status, None)
