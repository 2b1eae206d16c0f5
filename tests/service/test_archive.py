"""A service's season as a static site: the same places, the rulings, and code only once the season shows it."""

from __future__ import annotations

from datetime import datetime, timezone

from harness.service import organising
from harness.service.archive import export_season
from harness.service.rules import change_season
from tests.service.event import START_S, WORKSPACE, rules_now
from tests.service.test_pages import SECRET, make_season
from tests.site.page import Page

NOW = datetime.fromtimestamp(START_S, timezone.utc)


def export(database, folder):
    with database.read() as connection:
        files = export_season(connection, WORKSPACE, folder, NOW)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_the_static_site_has_what_the_service_shows(database, tmp_path):
    ids = make_season(database)
    found = export(database, tmp_path / "before")
    board = Page(found["boards/scale-b200-closed.html"]).words
    assert board.count("1 = tied") == 2
    assert " core " not in board.split("Latest submissions")[0], "a ruling takes a team off"
    assert ",core," not in found["boards/scale-b200-closed.csv"]
    assert "Ruled out by the organisers: it cheats" in Page(found[f"records/{ids['ruled']}.html"]).words
    assert "Ruled out" not in found[f"records/{ids['leader']}.html"]
    assert not any(name in path for path in found for name in (ids["waiting"], ids["posted"]))
    assert [name for name, content in found.items() if "hl.dot" in content] == []
    with database.write() as connection:
        change_season(connection, rules_now(connection).season, {"code_visible": "at_once"}, "ada", "over", START_S)
    after = export(database, tmp_path / "after")
    assert "".join(Page(after[f"records/{ids['failed']}.html"]).text).count(SECRET) >= 3, "the message, line and source"


def test_a_board_of_ruled_out_records_alone(database, tmp_path):
    ids = make_season(database)
    with database.write() as connection:
        for team in ("acme", "bolt"):
            organising.disqualify(connection, "ada", "all of it", START_S, team=team)
    found = export(database, tmp_path)
    assert "Ruled out by the organisers: all of it" in Page(found[f"records/{ids['leader']}.html"]).words
    assert "none ranked yet" in Page(found["index.html"]).words
    assert "No ranked entry yet" in Page(found["boards/scale-b200-closed.html"]).words
