"""Where pages lie: names that are safe as files and in links, the same for the static export and for the live service.

A page's name is its permalink: it is made of what the page is about and of nothing else. Pure.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Protocol

_SAFE = re.compile(r"(?=.{1,80}$)[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")


class OnBoard(Protocol):
    """Anything that belongs to a board: a board, a record, a card."""

    @property
    def problem(self) -> str:
        """The problem's name."""

    @property
    def target(self) -> str:
        """The target's name."""

    @property
    def division(self) -> str:
        """The division's name."""


@dataclass(frozen=True)
class Links:
    """Links from one page to the others.

    Attributes:
        root: what leads to the site's root: "", "../" or "../../" in files, "/" in the service.
        suffix: what a page's name ends with: ".html" in files.
        home: the season's page, from the root.
    """

    root: str = ""
    suffix: str = ".html"
    home_page: str = "index.html"

    @property
    def home(self) -> str:
        """The season's page."""
        return f"{self.root}{self.home_page}" or "./"

    def page(self, name: str, number: int = 1) -> str:
        """Return the link to a page by its name; further pages of a long one are numbered."""
        return f"{self.root}{numbered(name, number)}{self.suffix}"

    def file(self, name: str) -> str:
        """Return the link to something that is no page: the stylesheet, a board as CSV."""
        return f"{self.root}{name}"

    def board(self, item: OnBoard, number: int = 1) -> str:
        """Return the link to the board of something."""
        return self.page(board_page(item), number)

    def record(self, record_id: str) -> str:
        """Return the link to a record."""
        return self.page(record_page(record_id))

    def team(self, name: str, number: int = 1) -> str:
        """Return the link to a team."""
        return self.page(team_page(name), number)

    def problem(self, name: str) -> str:
        """Return the link to a problem."""
        return self.page(problem_page(name))


def board_page(item: OnBoard) -> str:
    """Return the name of a board's page (or of the board that a record belongs to), without its ending."""
    return f"boards/{slug(item.problem)}-{slug(item.target)}-{slug(item.division)}"


def record_page(record_id: str) -> str:
    """Return the name of a record's page, without its ending. It is the record's for ever."""
    return f"records/{slug(record_id)}"


def team_page(name: str) -> str:
    """Return the name of a team's page, without its ending."""
    return f"teams/{slug(name)}"


def problem_page(name: str) -> str:
    """Return the name of a problem's page, without its ending."""
    return f"problems/{slug(name)}"


def numbered(name: str, number: int) -> str:
    """Return the name of a further page of a long one: "teams/acme/2"."""
    return name if number == 1 else f"{name}/{number}"


def slug(name: str) -> str:
    """Return a name that is safe as a file's name and in a link; other names never get the same one."""
    if _SAFE.fullmatch(name):
        return name
    safe = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:80]
    return f"{safe or 'x'}-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"
