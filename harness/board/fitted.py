"""Tables for the terminal that leave out columns, the least important first, until they fit its width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from harness.text import clean

UNLIMITED = 10_000

Row: TypeAlias = "list[Text | str]"


@dataclass(frozen=True)
class Column:
    """A column of a fitted table.

    Attributes:
        keep: in a narrow terminal the columns with the lowest `keep` go first; 9 always stays.
        no_wrap: what is in it stays on one line.
    """

    heading: str
    keep: int = 9
    justify: Literal["left", "right"] = "left"
    no_wrap: bool = True


class FittedTable:
    """A table without lines. Strings in it are plain text, never markup; columns with no content are left out.

    Args:
        columns: all of them; those that do not fit are left out.
        rows: a cell for each column.
        heading: show the columns' headings.
        whole: the command that shows everything. With it, a line under the table tells of columns left out.
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
        for least in sorted({column.keep for column in self._columns}):
            table = self._keeping(least)
            if Measurement.get(console, options.update(max_width=UNLIMITED), table).maximum <= options.max_width:
                break
        else:
            least, table = 9, self._keeping(9)
        yield table
        left_out = sum(column.keep < least for column in self._columns)
        if left_out and self._whole:
            columns = f"{left_out} column{'' if left_out == 1 else 's'} left out"
            yield Text(f"{columns}: widen the terminal, or {self._whole}", "dim")

    def _keeping(self, least: int) -> Table:
        kept = [i for i, column in enumerate(self._columns) if column.keep >= least]
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False, show_header=self._heading)
        for column in (self._columns[i] for i in kept):
            table.add_column(_plain(column.heading), justify=column.justify, no_wrap=column.no_wrap)
        for row in self._rows:
            table.add_row(*(row[i] for i in kept))
        return table


def number_column(heading: str, keep: int = 9) -> Column:
    """Return a column of numbers."""
    return Column(heading, keep, "right")


def _plain(cell: Text | str) -> Text:
    return Text(clean(cell)) if isinstance(cell, str) else cell
