"""The static site: the season's pages as files, a stylesheet, each board as CSV and JSON. No script is in it.

It is complete in itself: it can be put on any web server, or opened from a disk. File names are made of letters,
digits, dots and dashes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from harness.board.export import board_csv, board_json
from harness.errors import UsageError
from harness.site.gathering import Gathered
from harness.site.links import Links, board_page, numbered, problem_page, record_page, team_page
from harness.site.live_views import ActsView
from harness.site.problem import ProblemText, ProblemView
from harness.site.rendering import Site, View, read_stylesheet, render
from harness.site.views import Kept, SeasonFacts
from harness.store.ids import utc_now
from harness.store.record import Record

LOG = "acts"
"""The name of the first page of the organisers' log."""

MARKER = ".harness-site"
"""The file that says that a folder holds a site."""


def export_site(
    records: Sequence[Record],
    directory: Path,
    season: SeasonFacts,
    *,
    problems: Sequence[ProblemText] = (),
    generated: str | None = None,
    kept: Kept | None = None,
    log: Sequence[ActsView] = (),
) -> tuple[Path, ...]:
    """Write the site into a folder and return the files written.

    A site that is there already is written over; what else is in its folder is left alone. A marker tells such a folder
    from others.

    Args:
        records: all records to show, in any order.
        directory: made if it is missing; empty, or of an earlier site.
        season: what the pages say of the season.
        problems: those that get a page of their own.
        generated: the time to show, now by default.
        kept: what else is known of the records: rulings, sources.
        log: the pages of the organisers' log; none where no service was.

    Raises:
        UsageError: the folder cannot be written to, or holds something other than a site.
    """
    drawn = _draw(Gathered(records, season, kept), season, problems, generated or utc_now(), log)
    written = []
    try:
        _take_folder(directory)
        for name, content in drawn:
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
            written.append(path)
    except OSError as error:
        raise UsageError(f"the site cannot be written to {directory}: {error.strerror}") from error
    return tuple(written)


def _take_folder(directory: Path) -> None:
    """Make a folder, or see that what is in it is a site's; and mark it as one."""
    marker = directory.resolve() / MARKER
    if marker.parent.exists() and not marker.is_file() and any(marker.parent.iterdir()):
        told = f"{directory} is not empty, and no site was written there before: name a new folder, or an empty one"
        raise UsageError(told)
    directory.mkdir(parents=True, exist_ok=True)
    marker.write_text("A site written by harness. It may be written here again.\n", encoding="utf-8")


def render_site(
    records: Sequence[Record],
    season: SeasonFacts,
    *,
    problems: Sequence[ProblemText] = (),
    generated: str,
    kept: Kept | None = None,
) -> dict[str, str]:
    """Return the site's files: contents by their names, relative to its folder."""
    return dict(_draw(Gathered(records, season, kept), season, problems, generated))


def _draw(
    gathered: Gathered,
    season: SeasonFacts,
    problems: Sequence[ProblemText],
    generated: str,
    log: Sequence[ActsView] = (),
) -> Iterator[tuple[str, str]]:
    """Draw one file after another, for all of them are more than memory may have room for."""
    yield "style.css", read_stylesheet()
    problem_pages = frozenset(text.problem.name for text in problems)
    site = Site(season, Links(), generated, problem_pages, kept_log=bool(log))
    acts: Iterator[tuple[str, View]] = ((numbered(LOG, page.window.number), page) for page in log)
    for name, view in chain(_views(gathered, problems), acts):
        yield f"{name}.html", render(view, replace(site, links=Links("../" * name.count("/"))))
    for board in gathered.boards:
        yield f"{board_page(board)}.json", board_json(board)
        yield f"{board_page(board)}.csv", board_csv(board)


def _views(gathered: Gathered, problems: Sequence[ProblemText]) -> Iterator[tuple[str, View]]:
    yield "index", gathered.season_view()
    for text in problems:
        yield problem_page(text.problem.name), ProblemView(text, gathered.cards_of(text.problem.name))
    for board in gathered.boards:
        for view in gathered.board_views(board):
            yield numbered(board_page(board), view.window.number), view
    for team in gathered.teams:
        for page in gathered.team_views(team):
            yield numbered(team_page(team), page.window.number), page
    for record in gathered.records:
        yield record_page(record.id), gathered.record_view(record)
