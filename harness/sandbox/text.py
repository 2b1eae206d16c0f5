"""What comes out of a process, as text that is fit to show, of bounded length.

It does not escape for HTML or CSV; whoever renders those does.
"""

from __future__ import annotations

from harness.text import clean

MAX_LINE_CHARACTERS = 1 << 16


def clean_bytes(data: bytes) -> str:
    """Decode UTF-8, with a replacement character for what is not, and clean it."""
    return clean(data.decode("utf-8", errors="replace"), lines=True)


def clean_line(data: bytes) -> str:
    """Decode and clean one line, and cut it to `MAX_LINE_CHARACTERS`."""
    text = clean_bytes(data[: 4 * MAX_LINE_CHARACTERS]).rstrip("\n").replace("\n", " ")
    return text if len(text) <= MAX_LINE_CHARACTERS else text[: MAX_LINE_CHARACTERS - 1] + "…"
