"""A folder with a page of every kind, in the states that pages have: for the browser's tests, and to look at.

python -m tests.site.every_page FOLDER
"""

from __future__ import annotations

import dataclasses
import sys
from functools import lru_cache
from pathlib import Path

from harness.site.export import render_site
from harness.site.links import Links, numbered
from harness.site.live_views import Act, ActsView, QueueView
from harness.site.loading import load_problem_texts
from harness.site.problem import ProblemText
from harness.site.rendering import Site, render, render_message
from harness.site.views import QueueRow, RecordView, SeasonFacts, SourceFile, Window
from harness.store.record import Record
from tests.board.hostile import HOSTILE, hostile_record
from tests.board.season import SEASON, make_season
from tests.season import SEASON_ROOT
from tests.store.samples import incorrect, passed, submitted

NOW = "2027-01-20T12:00:00Z"
LONG_NAME = "a team with a rather long name, " + "x" * 90


def crowd(teams: int = 45) -> list[Record]:
    """More ranked teams than a page of a board holds, on every problem of the repository."""
    return [passed(f"team-{i:03}", 20.0 * 1.02**i, i, problem="fp8_quant") for i in range(teams)]


@lru_cache(maxsize=1)
def problems() -> tuple[ProblemText, ...]:
    """The repository's problems."""
    return load_problem_texts(SEASON_ROOT)


def season() -> SeasonFacts:
    """The season of the pages: its problems are the repository's."""
    titles = {text.problem.name: text.problem.title for text in problems()}
    hidden = {"code_visible": False, "code_until": "the season closes on 2027-03-01 00:00 UTC"}
    points = dict.fromkeys(titles, 100)
    return dataclasses.replace(SEASON, titles=titles, points=points, **hidden)


@lru_cache(maxsize=1)
def render_every_page() -> dict[str, str]:
    """The files of a site, by their names: the static pages, and those that only a service has."""
    records = [*make_season(), *crowd(), hostile_record(), incorrect(LONG_NAME)]
    files = render_site(records, season(), problems=problems(), generated=NOW)
    files |= {f"{name}.html": content for name, content in _live_pages(records).items()}
    return files


def _live_pages(records: list[Record]) -> dict[str, str]:
    def live(name: str, facts: SeasonFacts) -> Site:
        return Site(facts, Links("../" * name.count("/")), problem_pages=frozenset(facts.titles), live=True)

    shown = dataclasses.replace(season(), code_visible=True)
    wrong = next(record for record in records if record.kind == "INCORRECT")
    on_its_way = submitted("bolt", 6040)
    starter = SEASON_ROOT / "submissions" / "starter" / "gdn_forward" / "submission.py"
    sources = (SourceFile("submission.py", starter.read_text()),)
    notices = (f"Ruled out by the organisers: {HOSTILE}",)
    views = {
        "queue": queue(),
        "acts": acts(),
        "records/with-code": RecordView(wrong, sources=(*sources, SourceFile(HOSTILE, HOSTILE)), notices=notices),
        "records/on-its-way": RecordView(on_its_way),
    }
    pages = {name: render(view, live(name, shown)) for name, view in views.items()}
    pages[numbered("acts", 2)] = render(ActsView(), live("acts/2", shown))
    pages["empty-queue"] = render(QueueView(), live("empty-queue", shown))
    pages["not-found"] = render_message("Not found", HOSTILE, live("not-found", shown))
    return pages


def queue() -> QueueView:
    """A queue with something under way, something that begins again, and hostile names."""
    row = QueueRow("2xf11c80kzcjrt", "acme", "chunk_fwd_h", "b200", "running", NOW, None, "replay", 1, 4.2)
    rows = [
        row,
        dataclasses.replace(row, team="bolt", stage="build", attempt=2, estimate_s=65.0),
        *(dataclasses.replace(row, team=f"team-{i}", state="queued", stage="build", position=i, estimate_s=60.0 * i)
          for i in range(1, 9)),
        dataclasses.replace(row, team=HOSTILE, problem=HOSTILE, target=HOSTILE, state="queued", position=9),
    ]  # fmt: skip
    window = Window(1, 3, 111)
    return QueueView(tuple(rows), window, {"build": 41.0, "replay": 3.9}, {"build": 2, "replay": 1}, (HOSTILE,))


def acts() -> ActsView:
    """A log with an act of each kind, one of them hostile."""
    return ActsView(
        (
            Act(NOW, "Ada", "disqualify", "of acme", "reads beyond its tensors", "2xf11c80kzcjrt"),
            Act(NOW, "Ada", "rerun", "of bolt", "the GPU was lost in the first run", "2xf11c80kzcjrt"),
            Act(NOW, "Ada", "season", "helion-2026: closes 2027-03-02T00:00:00+00:00", "a day more: the rush"),
            Act(NOW, HOSTILE, HOSTILE, HOSTILE, HOSTILE, "2xf11c80kzcjrt"),
            Act(NOW, "root", "team", "acme"),
        ),
        Window(1, 2, 60),
    )


def write_every_page(folder: Path) -> list[Path]:
    """Write the pages and return their files."""
    files = render_every_page()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return [folder / name for name in files]


if __name__ == "__main__":
    write_every_page(Path(sys.argv[1]))
