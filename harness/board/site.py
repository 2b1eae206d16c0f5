"""The static site: a season page, a page per board and per record, a stylesheet. No script, nothing from elsewhere.

The texts on the pages are other people's. Every value passes `clean` and Jinja's autoescape on its way into a
page; file names are made of letters, digits, dots and dashes only; the pages' own policy (CSP) forbids scripts and
foreign resources should both fail. A submission's source is on no page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness import __version__
from harness.board import reading, text
from harness.board.export import board_csv, board_json
from harness.board.history import list_changes
from harness.board.ranking import Board, rank
from harness.board.trend import plot_trend
from harness.errors import UsageError
from harness.store.ids import utc_now
from harness.store.record import Record, Setting
from harness.store.store import Previous
from harness.text import clean

TEMPLATES = Path(__file__).parent / "templates"

LATEST = 25
"""How many of the latest records the season page and a record's history list."""


@dataclass(frozen=True)
class SeasonFacts:
    """What the pages say of the season; everything but its name may be empty.

    Attributes:
        titles: problem names to titles, in the season's order.
        deadlines: problem names to ISO times.
        noise: target names to the spread between identical kernels, as a share of one.
        noise_assumed: the targets where nobody has measured it.
        versions: problem names to their versions today; a board of another version says so.
        settings: problem names to the setting that counts now (by default the newest one that has records).
    """

    name: str
    titles: Mapping[str, str] = field(default_factory=dict)
    deadlines: Mapping[str, str] = field(default_factory=dict)
    noise: Mapping[str, float] = field(default_factory=dict)
    noise_assumed: frozenset[str] = frozenset()
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)


def export_site(
    records: Sequence[Record], directory: Path, season: SeasonFacts, *, generated: str | None = None
) -> tuple[Path, ...]:
    """Write the site into a folder and return the files written. Other files in the folder are left alone.

    Args:
        records: all records to show, in any order.
        directory: made if it is missing.
        season: what the pages say of the season.
        generated: the time to show, now by default.

    Raises:
        UsageError: the folder cannot be written to.
    """
    pages = render_site(records, season, generated=generated or utc_now())
    try:
        for name, content in pages.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"the site cannot be written to {directory}: {error.strerror}") from error
    return tuple(directory / name for name in pages)


def render_site(records: Sequence[Record], season: SeasonFacts, *, generated: str) -> dict[str, str]:
    """Return the site's files: contents by their names, relative to its folder."""
    newest_first = sorted(records, key=lambda record: record.id, reverse=True)
    boards = _rank_boards(newest_first, season)
    environment = _make_environment(season, generated)
    of_board: dict[str, list[Record]] = {board_page(board): [] for board in boards}
    for record in newest_first:
        of_board[board_page(record)].append(record)

    def render(template: str, **values: Any) -> str:
        return environment.get_template(template).render(root="" if template == "season.html" else "../", **values)

    empty = [name for name in season.titles if all(board.problem != name for board in boards)]
    files = {"style.css": (TEMPLATES / "style.css").read_text(encoding="utf-8")}
    files["index.html"] = render("season.html", boards=boards, empty=empty, records=newest_first, latest=LATEST)
    for board in boards:
        page = board_page(board)
        here = [record for record in of_board[page] if record.setting == board.setting]
        files[f"{page}.html"] = render(
            "board.html", board=board, trend=plot_trend(here), records=of_board[page][:LATEST]
        )
        files[f"{page}.json"], files[f"{page}.csv"] = board_json(board), board_csv(board)
    for board in boards:
        for record in of_board[board_page(board)]:
            history = [other for other in of_board[board_page(board)] if other.team == record.team]
            files[f"{record_page(record)}.html"] = render("record.html", **_describe_record(record, board, history))
    return files


def board_page(board: Board | Record) -> str:
    """Return the name of a board's page (or of the board that a record belongs to), without its ending."""
    return f"boards/{slug(board.problem)}-{slug(board.target)}-{slug(board.division)}"


def record_page(record: Record) -> str:
    """Return the name of a record's page, without its ending. It is the record's for ever."""
    return f"records/{slug(record.id)}"


def slug(name: str) -> str:
    """Return a name that is safe as a file's name and in a link; other names never get the same one."""
    safe = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:80]
    return safe if safe == name else f"{safe or 'x'}-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"


def _rank_boards(records: Sequence[Record], season: SeasonFacts) -> list[Board]:
    order = {name: i for i, name in enumerate(season.titles)}
    keys = sorted(
        {(record.problem, record.target, record.division) for record in records},
        key=lambda key: (order.get(key[0], len(order)), key),
    )
    return [
        rank(
            records,
            *key,
            noise=season.noise.get(key[1], 0.0),
            noise_assumed=key[1] in season.noise_assumed,
            setting=season.settings.get(key[0]),
            version_now=season.versions.get(key[0]),
        )
        for key in keys
    ]


def _describe_record(record: Record, board: Board, history: Sequence[Record]) -> dict[str, Any]:
    """Gather what a record's page shows. `history` holds the team's records on the board, the newest first."""
    earlier = [other for other in history if other.id < record.id and other.state == "finished"]
    scored = [other for other in earlier if other.scored]
    best = min(scored, key=lambda other: (other.score_us or 0.0, other.id), default=None)
    changes = (
        list_changes(record, Previous(earlier[0] if earlier else None, best)) if record.state == "finished" else ()
    )
    return {
        "record": record,
        "board": board,
        "entry": next((entry for entry in board.entries if entry.record.id == record.id), None),
        "history": history[:LATEST],
        "trend": plot_trend([other for other in history if other.setting == record.setting]),
        "changes": changes,
    }


def _make_environment(season: SeasonFacts, generated: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = ("gap", "magnitude", "microseconds", "moment", "percent", "seconds", "size_bytes")
    environment.filters.update({name: getattr(text, name) for name in names})
    environment.globals.update(
        season=season,
        generated=generated,
        version=__version__,
        reading=reading,
        shape_names=text.shape_names,
        short_names=text.short_names,
        telling_axes=text.telling_axes,
        common_axes=text.common_axes,
        board_page=board_page,
        record_page=record_page,
    )
    return environment


def _finalize(value: Any) -> Any:
    """Clean every value that a template writes; what a macro has rendered has been through here."""
    if value is None:
        return ""
    return clean(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value
