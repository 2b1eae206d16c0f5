"""What a person has still to write, said where it is to be written: comments in the files that were brought in. Pure.

What they say may quote the event's files, which are untrusted: it is cleaned of everything that could end a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.authoring.unwritten import comment
from harness.text import clean


@dataclass(frozen=True)
class Mark:
    """One thing to write.

    Attributes:
        file: of the problem's folder.
        before: how the line begins that the comment is put above; of several it is the last, for the event's own text
            comes first.
        message: what is to be written.
    """

    file: str
    before: str
    message: str


def add_marks(files: Mapping[str, str], marks: Iterable[Mark]) -> dict[str, str]:
    """Return the files with a comment for each mark; what has no such line has it at the end.

    Args:
        files: texts by name.
        marks: in the order in which comments above one line follow each other.
    """
    marked = {name: text.splitlines() for name, text in files.items()}
    for mark in marks:
        lines = marked[mark.file]
        found = [number for number, line in enumerate(lines) if line.startswith(mark.before)]
        place = found[-1] if found else len(lines)
        indent = " " * (len(mark.before) - len(mark.before.lstrip(" ")))
        lines[place:place] = comment(clean(mark.message), indent)
    return {name: "\n".join(lines) + "\n" for name, lines in marked.items()}
