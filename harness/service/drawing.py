"""Pages that were drawn before: a page is drawn again only when what it shows has changed.

What it shows is read from the database for every request, and compared. So nothing here can be out of date, and a page
that many people look at costs its queries alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from harness.site.rendering import Site, View, render

MOST = 128


class Drawn:
    """The pages that were asked for last, by their addresses."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, tuple[View, Site, str]] = OrderedDict()
        self._lock = threading.Lock()

    def draw(self, address: str, view: View, site: Site) -> str:
        """Return the page of a view."""
        with self._lock:
            if (kept := self._pages.get(address)) is not None:
                self._pages.move_to_end(address)
        if kept is not None and kept[0] == view and kept[1] == site:
            return kept[2]
        page = render(view, site)
        with self._lock:
            self._pages[address] = (view, site, page)
            self._pages.move_to_end(address)
            while len(self._pages) > MOST:
                self._pages.popitem(last=False)
        return page
