"""A list in running lines, broken between its parts only: a number is never parted from its unit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from harness.text import clean

SEPARATOR = " · "


class Listing:
    """Parts on as few lines as they need; lines after the first begin where its first part does.

    Args:
        parts: plain text, never markup.
        label: what stands before the first part, blanks included.
    """

    def __init__(self, parts: Sequence[str], *, label: str = "") -> None:
        self._parts = [clean(part) for part in parts]
        self._label = label

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = " " * cell_len(self._label)
        lines = [self._label + "".join(self._parts[:1])]
        for part in self._parts[1:]:
            if cell_len(lines[-1] + SEPARATOR + part + SEPARATOR.rstrip()) <= options.max_width:
                lines[-1] += SEPARATOR + part
            else:
                lines[-1] += SEPARATOR.rstrip()
                lines.append(indent + part)
        yield Text("\n".join(lines))
