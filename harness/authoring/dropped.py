"""Text of a YAML file that is lost without a word: what stands behind " #" in a value without quotes is a comment.

Told only where the # is followed by what it would be part of ("see #4"): comments of these files have a blank there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from harness.authoring.finding import Fault

_LOST = re.compile(r"[ \t]+(?P<text>#\w.*)")
_SHOWN = 60


def find_dropped(path: Path) -> Iterator[Fault]:
    """Find the values of a YAML file of which a part was taken for a comment; nothing where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return
    lines = text.splitlines()
    for node in _plain_texts(document):
        mark = node.end_mark
        lost = _LOST.match(lines[mark.line], mark.column) if mark.line < len(lines) else None
        if lost:
            value, comment = str(node.value)[-_SHOWN:], lost["text"][:_SHOWN]
            told = f"{value!r} ends before {comment!r}, which YAML takes for a comment"
            yield Fault(f"{path}: {told}: put the value in quotes, or a blank behind the #", mark.line + 1)


def _plain_texts(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        if node.style is None and node.tag == "tag:yaml.org,2002:str":
            yield node
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _plain_texts(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _plain_texts(item)
