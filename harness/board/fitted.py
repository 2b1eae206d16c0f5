"""Tables for the terminal: what does not fit its width is wrapped where a column allows it; else columns are left out.

A table that has headings says how many of its columns are left out, and explains those that it shows where they ask for
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from harness.text import clean

GAP = 2
"""Blanks between columns."""

Row: TypeAlias = "list[Text | str]"


@dataclass(frozen=True)
class Column:
    """A column of a fitted table.

    Attributes:
        keep: in a narrow terminal the columns with the lowest `keep` go first; 9 always stays.
        no_wrap: what is in it stays on one line.
        shrinks_to: before any column goes, this one is wrapped, down to so many characters; 0 for not at all.
        meaning: what is in it, told in a line below a table that shows it; "" where the heading says it.
    """

    heading: str
    keep: int = 9
    justify: Literal["left", "right"] = "left"
    no_wrap: bool = True
    shrinks_to: int = 0
    meaning: str = ""


class FittedTable:
    """A table without lines. Strings in it are plain text, never markup; columns with no content are left out.

    Args:
        columns: all of them; those that do not fit are left out.
        rows: a cell for each column.
        heading: show the columns' headings.
        whole: the command that shows everything, for the line that tells of columns left out.
    """

    def __init__(
        self, columns: Sequence[Column], rows: Sequence[Row], *, heading: bool = True, whole: str = ""
    ) -> None:
        used = [i for i in range(len(columns)) if any(str(row[i]) for row in rows)]
        self._columns = [columns[i] for i in used]
        self._rows = [[_plain(row[i]) for i in used] for row in rows]
        self._heading = heading
        self._whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        natural = [self._natural_width(i) for i in range(len(self._columns))]
        kept, widths = list(range(len(natural))), None
        for least in sorted({column.keep for column in self._columns} | {9}):
            kept = [i for i, column in enumerate(self._columns) if column.keep >= least]
            widths = _squeeze([natural[i] for i in kept], self._least_widths(kept, natural), options.max_width)
            if widths is not None:
                break
        yield self._table(kept, widths)
        if meanings := [_explain(self._columns[i]) for i in kept if self._columns[i].meaning]:
            yield Text("; ".join(meanings), "dim")
        left_out = len(self._columns) - len(kept)
        if left_out and self._heading:
            columns = f"{left_out} column{'' if left_out == 1 else 's'} left out: widen the terminal"
            yield Text(f"{columns}, or {clean(self._whole)}" if self._whole else columns, "dim")

    def _natural_width(self, index: int) -> int:
        cells = [row[index].cell_len for row in self._rows]
        heading = _plain(self._columns[index].heading).cell_len if self._heading else 0
        return max([heading, *cells])

    def _least_widths(self, kept: Sequence[int], natural: Sequence[int]) -> list[int]:
        return [min(natural[i], self._columns[i].shrinks_to or natural[i]) for i in kept]

    def _table(self, kept: Sequence[int], widths: Sequence[int] | None) -> Table:
        """Return the table of some columns; without widths, it is for the terminal to squeeze in what does not fit."""
        table = Table(box=None, padding=(0, GAP, 0, 0), header_style="dim", pad_edge=False, show_header=self._heading)
        for place, column in enumerate(self._columns[i] for i in kept):
            width = widths[place] if widths is not None else None
            table.add_column(_plain(column.heading), justify=column.justify, no_wrap=column.no_wrap, width=width)
        for row in self._rows:
            table.add_row(*(row[i] for i in kept))
        return table


def number_column(heading: str, keep: int = 9, *, meaning: str = "") -> Column:
    """Return a column of numbers."""
    return Column(heading, keep, "right", meaning=meaning)


def _explain(column: Column) -> str:
    return clean(f"{column.heading.removesuffix(' µs')}: {column.meaning}")


def _squeeze(natural: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """Return widths that fit in the room, the widest columns narrowed first; None if even the least ones do not."""
    gaps = GAP * max(0, len(natural) - 1)
    if sum(least) + gaps > room:
        return None
    widths = list(natural)
    while sum(widths) + gaps > room:
        widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _plain(cell: Text | str) -> Text:
    return Text(clean(cell)) if isinstance(cell, str) else cell
