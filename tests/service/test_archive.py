"""A service's season as a static site: the same places, the rulings, and code only once the season shows it."""

from __future__ import annotations

import json
from datetime import datetime, timezone

from harness.board.export import board_json
from harness.service import organising
from harness.service.acts import log_act
from harness.service.archive import export_season
from harness.service.reading import load_board
from harness.service.rules import change_season
from tests.service.event import START_S, WORKSPACE, join, rules_now
from tests.service.test_organising import KEY, NEWER, enter
from tests.service.test_pages import SECRET, make_season
from tests.site.page import Page

OLDER = {**NEWER, "helion": "1.4.0"}
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


def test_the_static_site_has_the_log_of_acts(database, tmp_path):
    ids = make_season(database)
    with database.write() as connection:
        for number in range(60):
            log_act(connection, "ada", "team", f"team-{number}", "", now_s=START_S)
        log_act(connection, "ada", "rerun", ids["waiting"], "of what has no record yet", now_s=START_S)
    found = export(database, tmp_path / "site")
    first, second = Page(found["acts.html"]), Page(found["acts/2.html"])
    assert "Page 1 of 2, 63 acts" in first.words
    assert "of what has no record yet" in first.words
    assert "disqualified of core" in second.words
    assert "it cheats" in second.words
    assert "Queue" not in first.words
    links = [attributes.get("href") for page in (first, second) for _, attributes in page.tags]
    assert f"../records/{ids['ruled']}.html" in links
    assert not [link for link in links if link and ids["waiting"] in link]
    assert "acts.html" in [attributes.get("href") for _, attributes in Page(found["index.html"]).tags]
    assert "../acts.html" in found["boards/scale-b200-closed.html"]
    for name, content in found.items():
        if name.endswith(".html"):
            for link in (attributes.get("href") for _, attributes in Page(content).tags):
                path = (tmp_path / "site" / name).parent / (link or "").partition("#")[0]
                assert not link or link.startswith("data:") or path.exists(), (name, link)


def test_boards_are_those_of_the_service_whatever_is_ruled_out(database, tmp_path):
    join(database, "acme", "bolt", "core", "dusk")
    shared = {"normalised_source_sha256": "aa" * 32}
    for at_s, score_us in enumerate((5.0, 7.0, 9.0), 1):
        enter(database, "dusk", score_us, at_s, normalised_source_sha256="bb" * 32, toolchain=OLDER)
    owner = enter(database, "acme", 5.0, 4, **shared)
    enter(database, "bolt", 6.0, 5, **shared)
    enter(database, "dusk", None, 6)
    cheat = enter(database, "core", 1.0, 7, toolchain=NEWER)
    compare(database, tmp_path / "all")
    for record in (cheat, owner):
        with database.write() as connection:
            organising.disqualify(connection, "ada", "it cheats", START_S, record=record)
        board = compare(database, tmp_path / record)
    assert [(row["team"], row["same_program_as"]) for row in board["ranked"]] == [("bolt", "acme")]
    assert [round(row["score_us"], 6) for row in board["other_settings"]] == [7.0]
    assert [row["team"] for row in board["unranked"]] == ["dusk"]
    with database.write() as connection:
        for team in ("bolt", "dusk"):
            organising.disqualify(connection, "ada", "all of it", START_S, team=team)
    assert compare(database, tmp_path / "none")["setting"]["toolchain"] == NEWER


def compare(database, folder):
    """Export the season, see that the board is the service's, and return it."""
    found = json.loads(export(database, folder)["boards/scale-b200-closed.json"])
    with database.read() as connection:
        board = load_board(connection, KEY, rules_now(connection).problems["scale"].version)
    assert found == json.loads(board_json(board))
    return found


def test_a_board_of_ruled_out_records_alone(database, tmp_path):
    ids = make_season(database)
    with database.write() as connection:
        for team in ("acme", "bolt"):
            organising.disqualify(connection, "ada", "all of it", START_S, team=team)
    found = export(database, tmp_path / "site")
    assert "Ruled out by the organisers: all of it" in Page(found[f"records/{ids['leader']}.html"]).words
    assert "none ranked yet" in Page(found["index.html"]).words
    assert "No ranked entry yet" in Page(found["boards/scale-b200-closed.html"]).words
