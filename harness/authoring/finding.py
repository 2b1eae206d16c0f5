"""A finding: one thing to mend in a problem's folder, with the file and the line that are to blame.

Faults come as text, "FILE: [PLACE: ]MESSAGE", from whoever finds them; the line is found here, in the message or by the
place in the YAML document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

TO_WRITE = "to write"  # a level: what a person has still to do

_LINE = re.compile(r" at line (\d+)|, line (\d+), column")


@dataclass(frozen=True)
class Finding:
    """One thing to mend.

    Attributes:
        level: "error" (the problem cannot be used so), "warning" or "to write".
        file: relative to the repository.
        line: the line in it; None where none is to blame.
        message: what is wrong, and what is expected.
    """

    level: str
    file: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Fault:
    """A fault whose line is known to whoever found it: a text as `find` takes it, and the line."""

    text: str
    line: int | None = None


def find(level: str, fault: Fault | str, root: Path, folder: Path) -> Finding:
    """Return the finding that a fault is: where it stands, relative to the repository, and what it says.

    Args:
        level: as said.
        fault: "FILE: [PLACE: ]MESSAGE", perhaps with its line.
        root: the repository.
        folder: what is blamed where no file is named.
    """
    text, line = (fault, None) if isinstance(fault, str) else (fault.text, fault.line)
    file, separator, message = text.partition(": ")
    if separator and Path(file).suffix:
        path = Path(file)
    else:
        path, message = folder, text
    shown = path.resolve().relative_to(root.resolve()) if path.resolve().is_relative_to(root.resolve()) else path
    return Finding(level, str(shown), line or _told_line(message) or _line_of(path, message), message)


def _told_line(message: str) -> int | None:
    told = _LINE.search(message)
    return int(told[1] or told[2]) if told else None


def _line_of(path: Path, message: str) -> int | None:
    """Return the line of a YAML document where the place that a message begins with stands."""
    if path.suffix not in (".yml", ".yaml"):
        return None
    try:
        document = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return None
    line, node = None, document
    for part in _places(message):
        found = _child(node, part)
        if found is None:
            return line
        key, node = found
        line = key.start_mark.line + 1
    return line


def _places(message: str) -> Iterator[str]:
    """The parts of "inputs.x.shape: ...", or of a place within a shape, "tests.0: cost.flops: ..."."""
    place = message.split(": ", 1)[0]
    if re.fullmatch(r"[\w.-]+", place):
        yield from place.split(".")


def _child(node: yaml.Node | None, part: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the key and the value of a mapping's entry, or an item of a sequence twice."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode):
        if part.isdigit() and int(part) < len(node.value):
            return node.value[int(part)], node.value[int(part)]
        named = (item for item in node.value if (name := _child(item, "name")) and name[1].value == part)
        return next(((item, item) for item in named), None)
    return None
