"""Other people's text made fit to show: the one gate between what untrusted code wrote and a terminal, page or file.

It takes away what acts instead of being read: escape sequences, control and bidirectional characters, invisible ones
that make two names look alike. Quoting for HTML, CSV or a terminal's markup is the renderer's own business.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # operating system commands: window titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"  # device control and other strings
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # control sequences: colours, cursor, screen
    r"|\x1b[ -/]{0,16}[0-~]"
)
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean(text: str, *, lines: bool = False) -> str:
    """Return a text without anything that acts on a terminal or page, or cannot be seen.

    Args:
        text: anything, from anybody.
        lines: keep line ends and tabs; otherwise each run of them becomes one space.
    """
    if text.isascii() and text.isprintable():
        return text  # most are: there is nothing in them to take away
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    text = text.replace("\r", "\n") if lines else re.sub(r"[\n\t\r]+", " ", text)
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in _HIDDEN_CATEGORIES else _REPLACEMENT for c in text
    )
