"""What a job says to GitHub's runner, and what must not be taken for it. Pure.

The runner obeys lines of a log that begin with `::`, and older ones with `##[` anywhere in the line. Texts of the
author's reach the log, so every line that is not meant as a command is made inert, and every value in one is escaped
(GitHub, "Workflow commands for GitHub Actions": % first, then line ends; in properties : and , too).
"""

from __future__ import annotations

import re

from harness.ci.paths import shown
from harness.text import clean

MAX_MESSAGE = 4000

_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


def inert(text: str) -> str:
    """Return a text of anybody's, cleaned, in which no line is a command."""
    text = clean(text, lines=True)
    return _COMMAND.sub(r"\1: ", text).replace("##[", "## [")


def error_command(message: str, *, path: str = "", line: int = 0, title: str = "") -> str:
    """Return the command that puts an error on a line of a file.

    Args:
        message: of anybody's.
        path: from the repository's root; none for an error of the run.
        line: 0 if none is to blame.
        title: its headline.
    """
    properties = {"file": shown(path) if path else "", "line": str(line) if path and line > 0 else "", "title": title}
    stated = ",".join(f"{name}={_escape(value, ':,')}" for name, value in properties.items() if value)
    return f"::error{' ' if stated else ''}{stated}::{_escape(inert(message)[:MAX_MESSAGE])}"


def _escape(text: str, also: str = "") -> str:
    for character in ("%", "\r", "\n", *also):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
