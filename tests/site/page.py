"""A page as the tests read it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


class Page(HTMLParser):
    """The elements, links and text of a page; an element left open or closed twice fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self._glued = False
        self.feed(text)
        self.close()
        assert self._open == [], f"left open: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._glued = ("class", "digits") in attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, self.getpos()

    def handle_data(self, data):
        if self._glued:
            self.text[-1] += data
        else:
            self.text.append(data)
        self._glued = False

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.text))
