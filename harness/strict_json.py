"""JSON that untrusted code wrote, read strictly: a document that two readers could take differently is none.

`parse_object`, `number` and `text` are for what a child process says line by line: they pass over what is not of its
kind. What a caller bounds (bytes, depth, values, the size of numbers) is its own business, and so is its message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any


def parse_strict(
    document: str, *, parse_int: Callable[[str], int] = int, parse_float: Callable[[str], float] = float
) -> Any:
    """Parse a document in which no name is given twice in one place, and no number is NaN or Infinity.

    Args:
        document: its text.
        parse_int: reads an integer; its ValueError refuses the document.
        parse_float: reads any other number, likewise.

    Raises:
        ValueError: it is no such document, or nested too deeply to be read.
    """
    try:
        return json.loads(
            document, object_pairs_hook=_unique, parse_int=parse_int, parse_float=parse_float, parse_constant=_refuse
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_object(line: str | bytes) -> dict[str, Any] | None:
    """Return the object that a line of a child's output holds, None if it is anything else."""
    try:
        found = parse_strict(line.decode("utf-8") if isinstance(line, bytes) else line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def number(fields: Mapping[str, Any], name: str) -> float:
    """Return a non-negative number of an object, 0 where it holds something else."""
    value = fields.get(name)
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if good and value is not None else 0.0


def text(fields: Mapping[str, Any], name: str, most: int = 4000) -> str:
    """Return a text of an object, cut to `most` characters; "" where it holds something else."""
    value = fields.get(name)
    return value[:most] if isinstance(value, str) else ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
