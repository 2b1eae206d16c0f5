"""Rows of rankings that were drawn before: when a record comes, most of a board's rows are what they were.

A row is drawn again when anything that it shows is another: its entry is compared, and everything else names it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

from markupsafe import Markup

from harness.board.places import Entry
from harness.site.links import Links
from harness.store.record import CaseRecord

MOST = 4000


class Rows:
    """The rows that were asked for last."""

    def __init__(self) -> None:
        self._rows: OrderedDict[Hashable, tuple[Entry, Markup]] = OrderedDict()
        self._lock = threading.Lock()

    def draw(
        self,
        macro: Callable[[Entry, Sequence[CaseRecord]], Markup],
        entry: Entry,
        timed: Sequence[CaseRecord],
        links: Links,
    ) -> Markup:
        """Return the row of an entry.

        Args:
            macro: draws it.
            entry: whose.
            timed: the cases that have a column.
            links: from the page.
        """
        name = (entry.record.id, links, tuple(case.case_id for case in timed))
        with self._lock:
            kept = self._rows.get(name)
            if kept is not None:
                self._rows.move_to_end(name)
        if kept is not None and kept[0] == entry:
            return kept[1]
        row = macro(entry, timed)
        with self._lock:
            self._rows[name] = (entry, row)
            self._rows.move_to_end(name)
            while len(self._rows) > MOST:
                self._rows.popitem(last=False)
        return row
