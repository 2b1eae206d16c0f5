"""Lines that a child process writes, one at a time, each within a limit of time and size. Standard library only."""

from __future__ import annotations

import os
import selectors
import time

_CHUNK_BYTES = 1 << 16


class Lines:
    """Reads a descriptor; what has come of the next line is kept.

    Args:
        descriptor: of a pipe; closing it is its owner's business.
        most_bytes: of a line.
    """

    def __init__(self, descriptor: int, most_bytes: int) -> None:
        self._descriptor, self._most_bytes = descriptor, most_bytes
        self._buffer = b""

    def read(self, timeout_s: float) -> bytes:
        """Return the next line, without its end.

        Raises:
            TimeoutError: it did not come in time.
            EOFError: the other side has ended, or the line is longer than it may be.
        """
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    raise TimeoutError
                data = os.read(self._descriptor, _CHUNK_BYTES)
                if not data or len(self._buffer) > self._most_bytes:
                    raise EOFError
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line
