"""What pages show and hide: code, sizes, ties, standings, numbers."""

from __future__ import annotations

import dataclasses
import re

import pytest

from harness.board.standings import rank_overall
from harness.frame import Frame
from harness.site.export import render_site
from harness.site.gathering import Gathered, rank_boards
from harness.site.links import Links, team_page
from harness.site.live_views import Act, ActsView, QueueView
from harness.site.rendering import MAX_PAGE_BYTES, Site, aligned, render
from harness.site.views import RecordView, SourceFile, cut
from harness.store.record import VerdictRecord
from tests.board.hostile import HOSTILE, hostile_record
from tests.board.season import SEASON, make_season
from tests.site.every_page import NOW, crowd, render_every_page
from tests.site.page import Page
from tests.store.samples import checked, incorrect, passed

SECRET = "acc = hl.dot(q, k.T)"
HIDING = dataclasses.replace(SEASON, code_visible=False, code_until="the season closes on 2027-03-01 00:00 UTC")


def with_secret():
    """A record with a line of code wherever a record may have one."""
    message = f"Helion refuses it.\n  41 | {SECRET}"
    verdict = VerdictRecord(
        "COMPILE_ERROR", "trace", None, "helion_error", message, (Frame(41, "custom_kernel", SECRET),),
        {"stderr": SECRET},
    )  # fmt: skip
    case = dataclasses.replace(incorrect().cases[1], message=f"it fails\n{SECRET}")
    return incorrect(verdict=verdict, cases=(case,))


def built_with_secret():
    told = f"built; 0 of 3 test cases checked: inline assembly is not interpreted: {SECRET}"
    return checked("bolt", verdict=VerdictRecord("BUILT", "replay", message=told))


def test_no_page_and_no_export_shows_code_before_the_season_does():
    files = render_site([with_secret(), built_with_secret()], HIDING, generated=NOW)
    assert [name for name, content in files.items() if "hl.dot" in content] == []
    told = " ".join(Page(content).words for name, content in files.items() if name.startswith("records/"))
    assert told.count("quotes the submission’s code is hidden") == 2
    assert "is hidden (line 41 in custom_kernel) until the season closes on 2027-03-01 00:00 UTC and this site" in told


def test_sources_are_shown_once_the_season_shows_code():
    source = SourceFile("submission.py", f"def custom_kernel(data):\n    {SECRET}\n")
    view = RecordView(with_secret(), sources=(source,))
    for season, shown in ((HIDING, False), (SEASON, True)):
        page = Page(render(view, Site(season, Links("../"), live=True)))
        assert ("custom_kernel(data)" in "".join(page.text)) is shown
        assert ("code is hidden" in page.words) is not shown


def test_where_code_is_never_shown_no_date_is_named():
    page = Page(render(RecordView(with_secret()), Site(dataclasses.replace(HIDING, code_until=""), Links("../"))))
    assert "(line 41 in custom_kernel)." in page.words


def test_every_page_is_small_enough():
    sizes = {name: len(content.encode()) for name, content in render_every_page().items() if name.endswith(".html")}
    assert max(sizes.values()) <= MAX_PAGE_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:3]
    assert len(sizes) > 150


def test_whoever_fills_a_record_to_the_brim_gets_a_page_of_the_usual_size():
    long = HOSTILE * 200
    record = hostile_record()
    case = dataclasses.replace(record.cases[0], message=long, distribution=long, shape={f"A{i}": i for i in range(90)})
    record = dataclasses.replace(
        record,
        team=long[:900],
        cases=(case,) * 300,
        kernels=record.kernels * 500,
        warnings=(long,) * 150,
        machine={f"{long}{i}": long for i in range(300)},
        verdict=dataclasses.replace(record.verdict, message=long, traceback=record.verdict.traceback * 4000),
    )
    text = render(RecordView(record), Site(SEASON, Links("../")))
    assert len(text.encode()) <= MAX_PAGE_BYTES
    assert "it has 300 cases and 500 kernels and 150 warnings" in Page(text).words


def test_standings_stand_on_the_home_page_of_the_static_site():
    records = make_season()
    files = render_site(records, SEASON, generated=NOW)
    page = Page(files["index.html"])
    boards = [board for board in rank_boards(records, SEASON) if board.target == "b200"]
    standings = rank_overall(boards, SEASON.points)
    told = " ".join(f"{s.place} {s.team} {s.points:.1f}" for s in standings[:1])
    assert "Standings b200 · closed division Place Team Points chunk_ fwd_ h chunk_ fwd_ o" in page.words
    assert told in page.words
    places = [s.place for s in standings]
    assert places.count(2) == 3, "equal points share a place"


def test_a_tie_is_told_in_words_too():
    files = render_site([passed("acme", 10.0), passed("bolt", 10.01, 1)], SEASON, generated=NOW)
    board = Page(files["boards/chunk_fwd_h-b200-closed.html"]).words
    assert board.count("1 = tied") == 2
    assert "Ahead of the next by +0.1% a tie" in board
    assert "1 = tied of 2" in Page(files[f"{team_page('bolt')}.html"]).words


def test_a_long_board_has_pages_and_every_entry_is_on_one():
    gathered = Gathered(crowd(85), SEASON)
    views = list(gathered.board_views(gathered.boards[0]))
    assert [len(view.board.entries) for view in views] == [40, 40, 5]
    files = render_site(crowd(85), SEASON, generated=NOW)
    second = files["boards/fp8_quant-b200-closed/2.html"]
    assert "Page 2 of 3, 85 teams" in Page(second).words
    assert 'href="../../boards/fp8_quant-b200-closed.html"' in second
    assert 'href="../../boards/fp8_quant-b200-closed/3.html"' in second


def test_the_home_page_shows_the_first_teams_and_says_of_how_many():
    home = Page(render_site(crowd(85), SEASON, generated=NOW)["index.html"]).words
    assert "The first 50 of 85 teams." in home
    assert "team-049" in home
    assert "team-050" not in home.split("Latest submissions")[0]


def test_pages_beyond_the_last_are_the_last():
    assert cut(0, 1)[1].pages == 1
    assert cut(85, 99)[1].number == 3
    assert cut(85, -4)[0] == slice(0, 40)


def test_a_team_has_its_places_and_its_submissions():
    page = Page(render_site(make_season(), SEASON, generated=NOW)[f"{team_page('acme')}.html"]).words
    assert "14 submissions, ranked on 1 board" in page
    assert re.search(r"b200 · closed 5 th of 8, \d+\.\d points", page)


def test_decimals_line_up():
    assert aligned("9.071") == '9<span class="digits">.071</span>'
    assert aligned("1104") == '1104<span class="digits"></span>'
    assert aligned("") == ""
    assert aligned("<b>") == '&lt;b&gt;<span class="digits"></span>'


def test_an_empty_queue_and_an_empty_log_say_so():
    site = Site(SEASON, Links("/", "", ""), live=True)
    assert "Nothing waits" in Page(render(QueueView(), site)).words
    assert "No act yet." in Page(render(ActsView(), site)).words
    assert 'href="/acts"' in render(ActsView((Act(NOW, "Ada", "freeze"),)), site)


@pytest.mark.parametrize("kind", ["queue", "acts", "records/with-code", "not-found", "index", "teams"])
def test_hostile_text_is_text_on_every_kind_of_page(kind):
    pages = {name: content for name, content in render_every_page().items() if name.endswith(".html")}
    shown = [content for name, content in pages.items() if name.startswith(kind)]
    assert shown
    hostile = [content for content in shown if "alert(1)" in content]
    assert hostile, kind
    for content in hostile:
        page = Page(content)
        assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "style", "form"}
        assert not [attributes for _, attributes in page.tags if any(a.startswith("on") for a in attributes)]
        assert all(c in "\n\t" or c.isprintable() for c in content)
