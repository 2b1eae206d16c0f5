"""JSON that untrusted code wrote, read strictly: a document that two readers could take differently is none.

What a caller bounds (bytes, depth, values, the size of numbers) is its own business, and so is its message.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def parse_strict(
    text: str, *, parse_int: Callable[[str], int] = int, parse_float: Callable[[str], float] = float
) -> Any:
    """Parse a document in which no name is given twice in one place, and no number is NaN or Infinity.

    Args:
        text: the document.
        parse_int: reads an integer; its ValueError refuses the document.
        parse_float: reads any other number, likewise.

    Raises:
        ValueError: it is no such document, or nested too deeply to be read.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_int=parse_int, parse_float=parse_float, parse_constant=_refuse
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")
