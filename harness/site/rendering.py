"""From a view to a page: templates, the values that they may use, and nothing that decides anything.

The texts on the pages are other people's. Every value passes `clean` and Jinja's autoescape on its way into a page,
and one that is too long is cut, so that nobody makes a page too large to read; what is a team's code is taken away
before a template sees it, unless the season shows code; the pages' own policy (CSP) forbids scripts and foreign
resources should all that fail.

What few pages need and is slow to import (Markdown, colours) is imported by the first of them: so a service is ready
sooner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from harness import __version__
from harness.board import reading, text
from harness.board.concealing import conceal, hides_something
from harness.site.links import Links, board_page, team_page
from harness.site.live_views import ActsView, QueueView
from harness.site.problem import ProblemView
from harness.site.rows import Rows
from harness.site.shortening import shorten
from harness.site.views import BoardView, RecordView, SeasonFacts, SeasonView, SourceFile, TeamView
from harness.text import clean

TEMPLATES = Path(__file__).parent / "templates"

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
)  # fmt: skip
"""What a page may load: its stylesheet. `frame-ancestors` works in a header only; the service adds it."""

MAX_PAGE_BYTES = 100_000
"""Of any page."""


class Room(NamedTuple):
    """How much of what may be long a page takes: characters of one value, items of a list, characters of code.

    And of a board: how many records without a place, in each of its lists.
    """

    characters: int
    items: int
    source_characters: int
    apart: int


MOST = Room(4000, 100, 20_000, 50)
LESS = Room(160, 25, 10_000, 10)

View: TypeAlias = "SeasonView | BoardView | RecordView | TeamView | ProblemView | QueueView | ActsView"

_TEMPLATE_OF: dict[type, str] = {
    SeasonView: "season.html",
    BoardView: "board.html",
    RecordView: "record.html",
    TeamView: "team.html",
    ProblemView: "problem.html",
    QueueView: "queue.html",
    ActsView: "acts.html",
}


@dataclass(frozen=True)
class Site:
    """What every page of a site shares.

    Attributes:
        season: what the pages say of the season.
        links: from the page to the others.
        generated: when it was written, ISO; empty on a live site, whose pages are as of now.
        problem_pages: the problems that have a page.
        live: it is the service's: there are a queue and a log of acts.
        kept_log: it is written from a service's database: there is a log of acts.
    """

    season: SeasonFacts
    links: Links
    generated: str = ""
    problem_pages: frozenset[str] = frozenset()
    live: bool = False
    kept_log: bool = False

    @property
    def has_log(self) -> bool:
        """The organisers' log is one of the pages."""
        return self.live or self.kept_log


def render(view: View, site: Site) -> str:
    """Return the page of a view. One that would be too large is drawn again with less of everything in it."""
    page = _render_view(view, site, MOST)
    return page if len(page.encode("utf-8", "replace")) <= MAX_PAGE_BYTES else _render_view(view, site, LESS)


def _render_view(view: View, site: Site, room: Room) -> str:
    values: dict[str, Any] = {}
    if isinstance(view, RecordView):
        view, values = _prepare_record(view, site.season, room)
    elif isinstance(view, ProblemView):
        values = _read_problem(view, site.links)
    elif isinstance(view, BoardView):
        values = {"most_apart": room.apart}
    return _render(_TEMPLATE_OF[type(view)], site, room, view=view, **values)


def _prepare_record(view: RecordView, season: SeasonFacts, room: Room) -> tuple[RecordView, dict[str, Any]]:
    """Take away what is code, unless the season shows it, and what is too much."""
    hidden = False
    if not season.code_visible:
        hidden = hides_something(view.record) or bool(view.sources)
        view = replace(view, record=conceal(view.record), sources=())
    view = replace(shorten(view, room.items), sources=tuple(_cut_sources(view.sources, room.source_characters)))
    return view, {"code_hidden": hidden}


def render_message(title: str, message: str, site: Site) -> str:
    """Return a page that says one thing: what was not found, what is closed."""
    return _render("message.html", site, LESS, title=title, message=message)


def read_stylesheet() -> str:
    """Return the one stylesheet."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def aligned(number: str) -> Markup:
    """Split a number at its decimal point, so that a column of them lines up there."""
    whole, point, digits = number.partition(".")
    if not number:
        return Markup("")
    fraction = escape(point + digits)
    return Markup(f'{escape(whole)}<span class="digits">{fraction}</span>')  # noqa: S704  both parts are escaped


def _read_problem(view: ProblemView, links: Links) -> dict[str, Markup]:
    """Return a README in the parts that a problem's page shows."""
    from harness.site.markdown import render_markdown, split_section

    readme, qualification = split_section(view.text.readme, "Qualification")
    return {
        "readme": render_markdown(readme, links),
        "qualification": render_markdown(qualification, links, "Qualification, table"),
    }


def _coloured(code: str) -> Markup:
    from harness.site.colouring import colour_python

    return colour_python(code)


def _cut_sources(sources: Sequence[SourceFile], left: int) -> Iterator[SourceFile]:
    """Yield files up to what a page may hold."""
    for file in sources:
        kept = file.text[:left]
        left -= len(kept)
        note = f"\n# ... and {len(file.text) - len(kept)} characters more\n" if len(kept) < len(file.text) else ""
        yield SourceFile(file.name, kept + note)


def _render(template: str, site: Site, room: Room, **values: Any) -> str:
    return (
        _environment(room.characters)
        .get_template(template)
        .render(site=site, season=site.season, links=site.links, **values)
    )


def breakable(name: str) -> Markup:
    """Let a name break after its underscores where a column is narrow."""
    return Markup("_<wbr>").join(escape(part) for part in clean(name).split("_"))


@lru_cache(maxsize=2)
def _environment(characters: int) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=partial(_finalize, characters),
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    names = ("gap", "magnitude", "microseconds", "moment", "percent", "seconds", "size_bytes")
    environment.filters.update(
        {name: getattr(text, name) for name in names}, aligned=aligned, breakable=breakable, python=_coloured
    )
    environment.globals.update(
        version=__version__,
        policy=CONTENT_SECURITY_POLICY,
        reading=reading,
        shape_names=text.shape_names,
        short_names=text.short_names,
        telling_axes=text.telling_axes,
        common_axes=text.common_axes,
        tell_ruled_out=text.tell_ruled_out,
        board_page=board_page,
        team_page=team_page,
        drawn_row=Rows().draw,
    )
    return environment


def _finalize(characters: int, value: Any) -> Any:
    """Clean every value that a template writes; what a macro has rendered has been through here."""
    if value is None:
        return ""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    # What is far too long is cut before it is read through, and exactly afterwards.
    cleaned = clean(value[: 2 * characters], lines=True)
    return cleaned if len(cleaned) <= characters else f"{cleaned[:characters]} …"
