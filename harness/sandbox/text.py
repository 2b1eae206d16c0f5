"""Untrusted text made fit to show: no control characters, no terminal escapes, bounded length.

It does not escape for HTML or CSV; whoever renders those does.
"""

from __future__ import annotations

import re

MAX_LINE_CHARACTERS = 1 << 16

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # operating system commands: window titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"  # device control and other strings
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # control sequences: colours, cursor, screen
    r"|\x1b[ -/]{0,16}[0-~]"
)
# Controls but tab and newline; line and paragraph separators; marks that reorder or hide text; surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Return text without control characters and terminal escapes; tabs and newlines stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def clean_bytes(data: bytes) -> str:
    """Decode UTF-8, with a replacement character for what is not, and clean it."""
    return clean(data.decode("utf-8", errors="replace"))


def clean_line(data: bytes) -> str:
    """Decode and clean one line, and cut it to `MAX_LINE_CHARACTERS`."""
    text = clean_bytes(data[: 4 * MAX_LINE_CHARACTERS]).rstrip("\n").replace("\n", " ")
    return text if len(text) <= MAX_LINE_CHARACTERS else text[: MAX_LINE_CHARACTERS - 1] + "…"
