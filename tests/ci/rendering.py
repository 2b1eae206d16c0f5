"""What GitHub would make of Markdown: which tags, and which words outside of code."""

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt

OURS = {"p", "strong", "ul", "li", "code", "pre", "details", "summary", "table", "thead", "tbody", "tr", "th", "td",
        "sub", "a"}  # fmt: skip
ATTRIBUTES = {("details", "open"), ("a", "href")}


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.prose, self.code, self._open = set(), set(), [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.links = getattr(self, "links", []) + [value for name, value in attrs if name == "href"]
        self._open.append(tag)

    def handle_endtag(self, tag):
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data):
        (self.code if {"code", "pre"} & set(self._open) else self.prose).append(data)


def render(markdown):
    """Return a page of it: CommonMark with GitHub's tables and raw HTML."""
    page = _Page()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    page.close()
    page.links = getattr(page, "links", [])
    return page


def assert_harmless(markdown, links=()):
    """Assert that a text holds no markup but ours, and nothing that GitHub would act on outside of code."""
    page = render(markdown)
    assert page.tags <= OURS, page.tags - OURS
    assert page.attributes <= ATTRIBUTES, page.attributes - ATTRIBUTES
    assert set(page.links) <= set(links)
    prose = " ".join(page.prose)
    assert not re.search(r"@\w|https?:|www\.|\b#\d|GH-\d|:\w+:", prose), prose
    return page
