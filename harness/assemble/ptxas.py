"""What NVIDIA's assembler says of code that it refuses, in its own words.

Triton's exception holds the assembler's log, with paths and line numbers of files that nobody has. The log echoes names
of hostile text, so that of it only the errors are taken: a few, each once, cut, and without what cannot be printed.
"""

from __future__ import annotations

import re

_COMPLAINT = re.compile(r"^ptxas\S*[ \t](?:[^;\n]*;)?[ \t]*(?:error|fatal)[ \t]*:[ \t]*([^\n]+)$", re.MULTILINE)
_SUMMARY = "Ptx assembly aborted due to errors"
_TWICE = "Duplicate definition of"
_MOST_LINES = 4
_MOST_CHARACTERS = 120


def read_complaints(log: str) -> tuple[str, ...]:
    """Return the errors in a log of the assembler's, each with what to do where that is known; () if it has none."""
    found = dict.fromkeys(printable(match[1]) for match in _COMPLAINT.finditer(log))
    found.pop(_SUMMARY, None)
    told = [words + _advise(words) for words in list(found)[:_MOST_LINES]]
    return (*told, *([f"and {len(found) - _MOST_LINES} more"] if len(found) > _MOST_LINES else []))


def printable(words: str) -> str:
    """Return a tool's words, cut, and without what cannot be printed."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in words[:_MOST_CHARACTERS]).strip()


def _advise(words: str) -> str:
    """Say what the author of inline assembly does not see: how often it is written out."""
    return ": put it in { }: it is pasted once for each element" if words.startswith(_TWICE) else ""
