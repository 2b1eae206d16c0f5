"""Lines that another process writes, one at a time, each within a limit of time and size. Standard library only."""

from __future__ import annotations

import math
import os
import select
import time

AWAKE_S = 0.005
"""How long to stay awake for a message between a runner and its judge: most take less."""

_CHUNK_BYTES = 1 << 16


class Lines:
    """Reads a descriptor; what has come of the next line is kept.

    Args:
        descriptor: of a pipe; closing it is its owner's business.
        most_bytes: of a line.
        awake_s: how long to stay awake for a line before sleeping until it comes. Waking up takes a tenth of a
            millisecond and more, which matters where two processes pass a thousand of them to and fro.
    """

    def __init__(self, descriptor: int, most_bytes: int, awake_s: float = 0.0) -> None:
        self._descriptor, self._most_bytes, self._awake_s = descriptor, most_bytes, awake_s
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._buffer = b""

    def read(self, timeout_s: float = math.inf) -> bytes:
        """Return the next line, without its end.

        Raises:
            TimeoutError: it did not come in time.
            EOFError: the other side has ended, or the line is longer than it may be.
        """
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            if not self._is_readable(deadline):
                raise TimeoutError
            data = os.read(self._descriptor, _CHUNK_BYTES)
            if not data or len(self._buffer) > self._most_bytes:
                raise EOFError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _is_readable(self, deadline: float) -> bool:
        """Wait until there is something to read, or the other side has ended."""
        sleeps = min(time.monotonic() + self._awake_s, deadline)
        while not self._poll.poll(0):
            now = time.monotonic()
            if now >= sleeps:
                return bool(self._poll.poll(None if deadline == math.inf else math.ceil(max(deadline - now, 0) * 1000)))
            os.sched_yield()  # the other side may have this core only
        return True
