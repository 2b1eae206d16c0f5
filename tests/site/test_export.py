from __future__ import annotations

import dataclasses
import json
import re
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import unquote

import pytest

from harness.errors import UsageError
from harness.site.export import export_site, render_site
from harness.site.gathering import Gathered
from harness.site.links import record_page, slug
from harness.site.loading import load_season_facts
from harness.site.views import TREND, Kept, SeasonFacts, SourceFile
from harness.store.record import VerdictRecord
from harness.target import ASSUMED_NOISE, target_names
from tests.board.hostile import HOSTILE, hostile_record
from tests.board.season import SEASON, make_season, sampled
from tests.season import SEASON_ROOT
from tests.site.page import Page
from tests.store.samples import checked, incorrect, passed

NOW = "2027-01-20T12:00:00Z"


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    return render_site([*make_season(), hostile_record()], SEASON, generated=NOW)


@pytest.fixture(scope="module")
def pages(site) -> dict[str, Page]:
    return {name: Page(content) for name, content in site.items() if name.endswith(".html")}


def test_there_is_a_page_for_the_season_every_board_and_every_record(site):
    records = make_season()
    names = set(render_site(records, SEASON, generated=NOW))
    boards = {"chunk_fwd_h-b200-closed", "chunk_fwd_o-b200-closed", "causal_conv1d-b200-closed"}
    expected = {f"boards/{board}.{kind}" for board in boards for kind in ("html", "csv", "json")}
    expected |= {f"records/{record.id}.html" for record in records}
    expected |= {f"teams/{slug(record.team)}.html" for record in records}
    assert names == expected | {"index.html", "style.css"}


def test_submissions_that_are_not_right_are_no_absence_of_submissions():
    words = Page(render_site([incorrect()], SEASON, generated=NOW)["index.html"]).words
    assert "closed 1 submission, none right yet" in words
    words = Page(render_site([incorrect(), passed("acme", 10.0)], SEASON, generated=NOW)["index.html"]).words
    assert "none right" not in words


def test_a_folder_of_something_else_is_not_written_into(tmp_path):
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems" / "ours.md").write_text("ours")
    for folder in (tmp_path, tmp_path / "problems"):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(UsageError, match=f"^{folder} is not empty, and no site was written there before: name a"):
            export_site([], folder, SEASON, generated=NOW)
        assert sorted(tmp_path.rglob("*")) == before
    for empty in (tmp_path / "empty", tmp_path / "new" / "site"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        first = export_site([], empty, SEASON, generated=NOW)
        assert export_site([], empty, SEASON, generated=NOW) == first, "a site is written over"


def test_no_page_runs_or_loads_anything(site, pages):
    for name, page in pages.items():
        for tag, attributes in page.tags:
            assert tag not in ("script", "iframe", "object", "embed", "img", "form", "base", "style"), (name, tag)
            assert not [a for a in attributes if a.startswith("on") or a == "style"], (name, attributes)
            for link in ("href", "src", "action", "srcset", "data"):
                assert not re.match(r"\s*([a-z]+:|//)", attributes.get(link) or "") or attributes[link] == "data:,"
        assert "default-src 'none'" in next(a["content"] for t, a in page.tags if "http-equiv" in a)
    assert not re.search(r"url\(|@import|https?:", site["style.css"])


def test_every_link_leads_to_a_page_of_the_site(site, pages):
    count = 0
    for name, page in pages.items():
        for _, attributes in page.tags:
            target = attributes.get("href")
            if target and target not in ("data:,", "#main"):
                resolved = (Path("/") / name).parent.joinpath(unquote(target)).as_posix()
                path = re.sub(r"/[^/]+/\.\./", "/", resolved).lstrip("/")
                assert path in site, (name, target)
                count += 1
    assert count > 500


def test_hostile_text_is_text(site, pages):
    page = pages[f"boards/{'chunk_fwd_h-b200-closed'}.html"]
    assert "<script>alert(1)</script>" in page.words
    (record_page,) = [p for n, p in pages.items() if n.startswith("records/") and "[blink]rich[/blink]" in p.words]
    assert record_page.words.count("<script>alert(1)</script>") > 20
    assert "{{ 7*7 }}" in record_page.words
    for name, content in site.items():
        if name.endswith(".html"):
            assert all(c == "\n" or c == "\t" or c.isprintable() for c in content), name
            content.encode()


def test_the_season_page_shows_leaders_and_empty_problems(pages):
    words = pages["index.html"].words
    assert "Helion season, spring 2027" in words
    assert "Per-group quantisation to fp8 range fp8_quant · 50 points No submission yet." in words
    assert "none ranked yet" in words
    assert "Closes 2027-03-01 00:00 UTC" in words


def test_a_board_page_tells_ranked_from_checked(pages):
    words = pages["boards/chunk_fwd_h-b200-closed.html"].words
    ranked, rest = words.split("Not ranked", 1)
    unranked, elsewhere = rest.split("Other settings", 1)
    assert "2 = tied" in ranked
    assert "same program as warp wizards" in ranked
    assert "laptop only" not in ranked
    assert "laptop only" in unranked
    assert "2 of 3 test cases were checked." in unranked
    assert "old timers PASSED 15.00 helion 1.4.0, now 1.5.0" in elsewhere
    assert "within 0.5% of the leader of their group" in elsewhere


def test_a_record_page_tells_everything(pages):
    by_title = {next(t for t in p.text if t.strip()): p for n, p in pages.items() if n.startswith("records/")}
    failed = by_title["INCORRECT: acme, chunk_fwd_h"].words
    for told in (
        "2048 of 8192 elements wrong (25.0%)",
        "h[0, 1, 0, 3, 5]",
        "return chunk_h(k, w, u, g)",
        "in custom_kernel",
        "INCORRECT",
        "K=64 V=64 in every case.",
        "Since this team’s last record",
        "22 s of CPU",
    ):
        assert told in failed, told
    spilling = by_title["CHECKED: first timers, chunk_fwd_h"].words
    assert "Spilled registers live in slow memory" in spilling
    assert "autotune_effort was ignored." in spilling


def record_words(record, *earlier) -> str:
    """The words of a record's page."""
    return Page(render_site([*earlier, record], SEASON, generated=NOW)[f"{record_page(record.id)}.html"]).words


def test_a_record_page_tells_how_calls_scatter_and_what_the_clocks_did():
    clocks = {"sm_mhz_lowest": 1905, "sm_mhz_median": 1980, "sm_mhz_highest": 1980, "throttle": "power_cap"}
    record = passed("acme", 23.41)
    timed = dataclasses.replace(record.cases[-1].timing, clocks=clocks)
    record = dataclasses.replace(
        record, cases=(*record.cases[:-1], dataclasses.replace(record.cases[-1], timing=timed))
    )
    assert "Clocks: SM 1980 MHz (1905 to 1980), slowed down by power_cap." in record_words(record)
    assert "Clocks" not in record_words(passed("acme", 23.41))
    page = render_site([record], SEASON, generated=NOW)[f"{record_page(record.id)}.html"]
    assert 'title="p10 to p90 of 200 calls: 91.77 to 96.45 µs"' in page


def test_what_is_ruled_out_is_nobodys_best():
    best, last, newest = passed("acme", 5.0, 0), passed("acme", 10.0, 1), passed("acme", 9.0, 2)
    told = {}
    for ruled in ("", best.id):
        gathered = Gathered([best, last, newest], SEASON, Kept({ruled: "it cheats"}))
        told[ruled] = {change.since for change in gathered.record_view(newest).changes}
    assert told == {"": {"last", "best"}, best.id: {"last"}}


def test_a_submissions_files_are_read_when_its_page_is_written(tmp_path):
    asked = []

    def sources(record):
        assert len(list(tmp_path.glob("records/*"))) == len(asked)
        asked.append(record.id)
        return (SourceFile("submission.py", f"# of {record.id}"),)

    made = [passed("acme", 5.0, 0), passed("bolt", 10.0, 1)]
    export_site(made, tmp_path, SEASON, generated=NOW, kept=Kept(sources=sources))
    assert sorted(asked) == [record.id for record in made]
    for record in made:
        page = (tmp_path / f"{record_page(record.id)}.html").read_text(encoding="utf-8")
        assert f"# of {record.id}" in "".join(Page(page).text)


def test_a_teams_chart_shows_its_newest_records_however_many_it_has():
    record = passed("acme", 5.0)
    many = [dataclasses.replace(record, id=f"{number:014}") for number in range(TREND + 50)]
    gathered = Gathered(many, SEASON)
    ((place,), *_) = [view.places for view in gathered.team_views("acme")]
    for trend in (gathered.record_view(many[0]).trend, place.trend):
        assert [dot.record.id for dot in trend.dots] == [record.id for record in many[50:]]


def test_a_case_checked_by_a_sample_counts_as_passed():
    words = record_words(sampled(checked()))
    assert "Cases passed 6 of 6, 2 by a sample of their programs" in words
    assert words.count("sampled 8 of 48 programs checked") == 2
    assert "partial" not in words
    assert "Cases passed 3 of 6 Compile" in record_words(checked())


def test_changes_keep_the_names_of_kernels_and_cases():
    before = checked()
    kernel = dataclasses.replace(before.kernels[0], name="helion_state_pass", registers=64)
    before = dataclasses.replace(before, kernels=(kernel,))
    now = incorrect(minute=1, kernels=(dataclasses.replace(kernel, registers=80),))
    words = record_words(now, before)
    assert f"registers of helion_state_pass in {kernel.shape_id} 64 → 80" in words
    assert f"case {now.verdict.case} passed → failed" in words


def test_a_line_in_no_function_has_no_place():
    record = incorrect()
    line = dataclasses.replace(record.verdict.traceback[0], function="")
    record = dataclasses.replace(record, verdict=dataclasses.replace(record.verdict, traceback=(line,)))
    assert "return chunk_h(k, w, u, g)" in record_words(record)
    assert not re.search(r"u, g\) in\b", record_words(record))


def test_what_has_no_verdict_says_why_in_plain_words():
    verdict = VerdictRecord("HARNESS_ERROR", "store", reason="interrupted", message="Its process ended.")
    unfinished = {"cases": (), "kernels": (), "build": None, "stages": ()}
    for state, decided, pill, told in (
        ("submitted", None, "being evaluated", "This submission is being evaluated."),
        ("interrupted", verdict, "interrupted", "interrupted: its process ended first; submit again."),
        ("interrupted", None, "interrupted", "interrupted: its process ended first; submit again."),
    ):
        record = checked("acme", 1, state=state, verdict=decided, **unfinished)
        site = render_site([record, checked()], SEASON, generated=NOW)
        page = Page(site[f"{record_page(record.id)}.html"]).words
        assert page.strip().startswith(f"{pill}: acme, chunk_fwd_h")
        assert told in page
        for words in (page, Page(site["index.html"]).words, Page(site["boards/chunk_fwd_h-b200-closed.html"]).words):
            assert pill in words
            assert not re.search("SUBMITTED|INTERRUPTED|HARNESS.ERROR|stage store", words)


def test_a_trend_is_drawn_where_there_are_scores(site):
    assert "<figure" in site["boards/chunk_fwd_h-b200-closed.html"]
    assert "<figure" not in site["boards/chunk_fwd_o-b200-closed.html"], "one score is no trend"
    assert "<figure" not in site["boards/causal_conv1d-b200-closed.html"]


def test_export_writes_and_rewrites_without_touching_other_files(tmp_path):
    for _ in range(2):
        files = export_site([checked()], tmp_path / "a" / "..", SEASON, generated=NOW)
        (tmp_path / "CNAME").write_text("board.example")
    assert all(file.exists() for file in files)
    assert (tmp_path / "CNAME").exists()
    assert "CHECKED" in files[-1].read_text()


def test_export_into_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match=r"the site cannot be written to .*taken"):
        export_site([], tmp_path / "taken", SEASON)


def test_a_site_without_records_or_details():
    files = render_site([], SeasonFacts("Quiet season"), generated=NOW)
    assert set(files) == {"index.html", "style.css"}
    assert "0 teams, 0 submissions" in files["index.html"]


def test_hostile_names_make_harmless_files():
    record = passed("acme", 1.0, problem="../../etc/passwd", target=HOSTILE, division="..")
    names = set(render_site([record], SEASON, generated=NOW))
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?", name) and ".." not in name for name in names)
    assert len({slug("a b"), slug("a-b"), slug("a/b"), slug("a  b")}) == 4
    assert slug("..") not in ("", ".", "..")
    assert [slug(name) for name in ("acme", "a-", "_a", "2sdz.v", "x" * 80)] == ["acme", "a-", "_a", "2sdz.v", "x" * 80]
    for odd in ("a.", ".a", "-a", "a..b", "a b", "x" * 81, "é", "a\n", ""):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+-[0-9a-f]{8}", slug(odd)), odd
    assert len(slug("x" * 500)) < 100


def test_the_record_pages_hold_no_source(site):
    """The submission's code stays hidden; only the lines of its own traceback are shown."""
    assert "artifact" in "".join(site.values()).lower()
    assert not any("def custom_kernel" in content for content in site.values())


def test_where_nobody_measured_noise_the_boards_tie_by_an_assumption_and_say_so():
    season = load_season_facts(SEASON_ROOT, datetime.now(timezone.utc))
    assert set(season.noise) == set(target_names())
    assert all(share > 0 for share in season.noise.values())
    tied = [passed("acme", 10.0), passed("bolt", 10.05, 1)]  # on a B200
    name = "boards/chunk_fwd_h-b200-closed"
    site = render_site(tied, season, generated=NOW)
    board = json.loads(site[f"{name}.json"])
    assert (board["noise"], board["noise_assumed"]) == (ASSUMED_NOISE, True)
    assert [entry["place"] for entry in board["ranked"]] == [1, 1]
    assert "an assumption, since what identical kernels differ by has not been measured" in site[f"{name}.html"]
    measured = render_site([dataclasses.replace(r, target="h200") for r in tied], season, generated=NOW)
    assert "an assumption" not in measured["boards/chunk_fwd_h-h200-closed.html"]


def test_a_problem_that_has_changed_says_so_on_the_season_page_and_its_board():
    assert set(load_season_facts(SEASON_ROOT, datetime.now(timezone.utc)).versions) == set(
        load_season_facts(SEASON_ROOT, datetime.now(timezone.utc)).titles
    )
    told = "The problem has changed: it is version 2 now"
    for version, said in (("1", False), ("2", True)):
        season = dataclasses.replace(SEASON, versions={"chunk_fwd_h": version})
        site = render_site([passed("acme", 10.0)], season, generated=NOW)
        assert [told in site[name] for name in ("index.html", "boards/chunk_fwd_h-b200-closed.html")] == [said, said]
