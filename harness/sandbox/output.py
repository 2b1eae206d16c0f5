"""What comes out of a sandboxed process: counted, cut into lines, cleaned, and bounded.

The bytes are hostile. Nothing here interprets them, and memory for them is bounded by the job's output limit.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator

from harness.sandbox.text import MAX_LINE_CHARACTERS, clean_bytes, clean_line

_STDERR_TAIL_BYTES = 1 << 16
_MOST_LINES = 100_000


class Output:
    """Takes in what a process writes; one thread does that, another may read the lines."""

    def __init__(self, most_bytes: int) -> None:
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stderr = bytearray()
        self._left = {True: most_bytes, False: most_bytes}
        self._lines_left = _MOST_LINES
        self._partial = bytearray()

    def take(self, chunk: bytes, *, is_stdout: bool) -> bool:
        """Take a chunk in; tell whether that was still within bounds."""
        over = len(chunk) > self._left[is_stdout]
        chunk = chunk[: self._left[is_stdout]]
        self._left[is_stdout] -= len(chunk)
        if is_stdout:
            self._take_lines(chunk)
        else:
            self._stderr += chunk
            del self._stderr[:-_STDERR_TAIL_BYTES]
        return not over and self._lines_left > 0

    def _take_lines(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._partial += piece
            self._put()
        self._partial += rest
        del self._partial[4 * MAX_LINE_CHARACTERS :]

    def _put(self) -> None:
        if self._lines_left > 0:
            self._lines.put(clean_line(bytes(self._partial)))
            self._lines_left -= 1
        self._partial.clear()

    def lines(self) -> Iterator[str]:
        """Yield the lines, cleaned, as they come, until `close`."""
        while (line := self._lines.get()) is not None:
            yield line
        self._lines.put(None)  # for whoever asks again

    def stderr(self) -> str:
        """Return the end of standard error, cleaned."""
        return clean_bytes(bytes(self._stderr))

    def close(self) -> None:
        """There is no more: let the reader end, with what had no newline as the last line."""
        if self._partial:
            self._put()
        self._lines.put(None)
