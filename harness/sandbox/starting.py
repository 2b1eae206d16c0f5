"""The harness's side of the fork server: one for a harness process, started when first needed, replaced if it dies.

The first sandbox of a harness process waits for the server to start; all others save that time. One thread talks
to it, and lives as long as we do: for the kernel's signal at a parent's death, the parent is the thread that started
a process, and with a fork of the server's it is the server's own. A process that the harness forks has neither the
thread nor the server, and gets its own.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent  # a zip file that was named by a relative path gives relative ones
_PROGRAM = f"import sys; sys.path.append({str(_FOLDER)!r}); import fork_server; fork_server.main()"
_ANSWER_S = 20.0
_ANSWER_BYTES = 32
_COMPLAINT_CHARACTERS = 500


class _ForkServer:
    """A process that runs `fork_server`, and our end of its socket."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.settimeout(_ANSWER_S)
        self._complaints = os.fdopen(os.memfd_create("fork-server"), "rb")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                env={},
                cwd="/",
                start_new_session=True,  # a terminal's Ctrl-C is for the harness, which stops what it started
            )

    def has_ended(self) -> bool:
        """Tell whether it was killed, say by the kernel for want of memory."""
        return self._process.poll() is not None

    def ask(self, descriptors: Sequence[int]) -> bytes:
        """Send a request; return the answer, empty if it ends before it gives one."""
        socket.send_fds(self._connection, [b"!"], list(descriptors))
        return self._connection.recv(_ANSWER_BYTES)

    def forget(self) -> None:
        """Close our end, in a process that is not its parent."""
        self._connection.close()
        self._complaints.close()
        self._process.returncode = 0  # not ours to wait for

    def end(self) -> str:
        """End it and wait for that; return the last line that it wrote to standard error."""
        self._connection.close()
        self._process.kill()
        self._process.wait()
        with self._complaints as file:
            file.seek(0)
            return file.read().decode(errors="replace").strip().rpartition("\n")[2][:_COMPLAINT_CHARACTERS]


class _Starter:
    """The thread that starts everything, and the server that it has started."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "sandbox-starter")
        self._server: _ForkServer | None = None

    def start(self, descriptors: Sequence[int]) -> int:
        return self._thread.submit(self._start, descriptors).result()

    def _start(self, descriptors: Sequence[int]) -> int:
        if self._server is None or self._server.has_ended():
            self.end()
            self._server = _ForkServer()
        try:
            answer, why = self._server.ask(descriptors), "it has ended"
        except OSError as error:
            answer, why = b"", str(error)
        if not answer:  # never asked again: a fork that we do not know of may hold this request's lifeline
            why = self.end() or why
            raise OSError(f"{sys.executable}, from which it would be forked, does not answer: {why}")
        pid = int(answer)
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def forget(self) -> None:
        if self._server is not None:
            self._server.forget()

    def end(self) -> str:
        if self._server is None:
            return ""
        server, self._server = self._server, None
        return server.end()


_starter = _Starter()


def start_launcher(descriptors: Sequence[int]) -> int:
    """Start a launcher, a child of this process.

    Args:
        descriptors: REQUEST, READY, LIFELINE, then what becomes its descriptors 0, 1, 2, and then those that the
            request says to keep. They stay the caller's to close.

    Returns:
        Its process id. It waits for a byte on the lifeline, and ends if there will be none.

    Raises:
        OSError: it cannot be started.
    """
    return _starter.start(descriptors)


def _renew() -> None:
    global _starter
    _starter.forget()
    _starter = _Starter()


os.register_at_fork(after_in_child=_renew)  # a forked child has no threads but its first, and no children
atexit.register(lambda: _starter.end())
