"""The pages as a browser gets them: from a real server over a database with a season in it."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import socket
import threading
import time
from contextlib import contextmanager
from urllib.parse import urljoin, urlsplit

import pytest
import requests
import uvicorn
from sqlalchemy import insert, select

from harness.frame import Frame
from harness.service import organising, rules
from harness.service.drawing import MOST, Drawn
from harness.service.http import Service
from harness.service.posting import post_record
from harness.service.rules import change_season
from harness.service.schema import jobs
from harness.service.server import make_app
from harness.service.settings import Settings
from harness.service.teams import PARTICIPANT, Holder, add_team
from harness.site.links import Links
from harness.site.rendering import MAX_PAGE_BYTES, Site
from harness.site.views import SeasonFacts, TeamView
from harness.store.ids import new_record_id
from harness.store.record import VerdictRecord, encode_record
from tests.board.hostile import HOSTILE, hostile_record
from tests.service.event import LIMITS, START_S, WORKSPACE, finish, join, lease, outcome, received, rules_now, submit
from tests.site.page import Page

SECRET = "acc = hl.dot(q, k.T)"
SECRET_SOURCE = f"def custom_kernel(data):\n    {SECRET}\n"
ENOUGH_S = 60.0


@contextmanager
def serving(database, root=WORKSPACE, **options):
    """A server in this process, on a port of its own."""
    service = Service(database, Settings(root, "", LIMITS))
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(service), log_config=None, access_log=False, **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    deadline = time.monotonic() + ENOUGH_S
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(ENOUGH_S)
        listening.close()


def conclude(database, team, at_s, score_us=None, verdict=None):
    """Submit a program that holds the secret, and conclude it; return its record's id."""
    asked = received(asked_source(team, at_s))
    job = submit(database, team, now_s=START_S + at_s, asked=asked)
    held = lease(database, now_s=START_S + at_s)
    record = outcome(held.job, score_us or 1.0)
    if verdict is not None:
        record = dataclasses.replace(record, verdict=verdict, ranked=False, score_us=None)
    assert finish(database, held, record, now_s=START_S + at_s)
    return job.id


def asked_source(team, at_s):
    return f"{team} {at_s}\n{SECRET_SOURCE}"


def make_season(database):
    """Three teams, two of them tied; a failure, a ruling, a freeze, something posted, something on its way."""
    join(database, "acme", "bolt", "core")
    message, lines = f"Helion refuses it.\n  2 | {SECRET}", (Frame(2, "custom_kernel", SECRET),)
    failed = VerdictRecord("COMPILE_ERROR", "trace", None, "helion_error", message, lines)
    ids = {
        "leader": conclude(database, "acme", 1, 10.0),
        "tied": conclude(database, "bolt", 2, 10.02),
        "failed": conclude(database, "acme", 3, verdict=failed),
        "ruled": conclude(database, "core", 4, 5.0),
        "waiting": submit(database, "bolt", now_s=START_S + 5).id,
    }
    posted = {**encode_record(hostile_record()), "problem": "scale", "target": "b200", "team": "acme"}
    with database.write() as connection:
        season, holder = rules_now(connection), Holder("token", PARTICIPANT, "acme", "")
        ids["posted"] = post_record(connection, holder, json.dumps(posted).encode(), season, LIMITS, START_S)
        said = HOSTILE.replace("\0", "")  # PostgreSQL keeps no text with one
        organising.disqualify(connection, "ada", f"it cheats {said}", START_S, record=ids["ruled"])
        organising.freeze(connection, said, "scale", said, season, START_S)
    return ids


def crawl(url, *more):
    """Everything that the pages lead to, by path: each link is followed once."""
    found, ahead = {}, [url + "/", *(url + path for path in more)]
    while ahead:
        address = ahead.pop().partition("#")[0]
        path = urlsplit(address).path
        if path in found:
            continue
        found[path] = answer = requests.get(address, timeout=ENOUGH_S)
        assert answer.status_code == 200, address
        if answer.headers["Content-Type"].startswith("text/html"):
            links = [attributes.get("href") for _, attributes in Page(answer.text).tags]
            ahead += [urljoin(address, link) for link in links if link and not link.startswith("data:")]
            assert all(urlsplit(link).netloc == urlsplit(url).netloc for link in ahead)
    return found


def test_every_link_leads_somewhere_and_every_page_keeps_the_rules(database):
    ids = make_season(database)
    with serving(database) as url:
        found = crawl(url, f"/records/{ids['posted']}", f"/records/{ids['waiting']}")
    kinds = {path.split("/")[1] for path in found}
    assert kinds == {"", "boards", "records", "teams", "problems", "queue", "acts", "style.css"}
    assert {f"/records/{name}" for name in ids.values()} <= set(found)
    for path, answer in found.items():
        assert len(answer.content) <= MAX_PAGE_BYTES, path
        headers = answer.headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["ETag"]
        assert "hl.dot" not in answer.text, path
        assert "Set-Cookie" not in headers
        if headers["Content-Type"].startswith("text/html"):
            page = Page(answer.text)
            assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "style", "form", "object"}, path
            assert not [attributes for _, attributes in page.tags if any(a.startswith("on") for a in attributes)]
    hostile = [path for path, answer in found.items() if "alert(1)" in answer.text]
    assert {path.split("/")[1] for path in hostile} == {"", "acts", "records", "boards", "queue", "problems"}


def test_pages_say_what_is_in_the_database(database):
    ids = make_season(database)
    with serving(database) as url:

        def words(path):
            return Page(requests.get(url + path, timeout=ENOUGH_S).text).words

        board = words("/boards/scale-b200-closed")
        assert board.count("1 = tied") == 2
        assert "10.00" in board
        assert "B1 T64 H1 B2 T512 H3" in board, "axes keep their order in either database"
        assert "Frozen by the organisers" in board
        assert "Unverified" in board
        assert " core " not in board.split("Latest submissions")[0], "a ruling takes a team off"
        assert (
            "1 submission is ruled out by the organisers, and not listed here. The organisers’ log says why." in board
        )
        for path in ("/boards/scale-b200-closed", "/", "/teams/core", f"/records/{ids['ruled']}"):
            assert words(path).count("PASSED ruled out") == 1, path
        home = words("/")
        assert "Standings b200 · closed division" in home
        assert re.search(r"1 = tied acme 10\.0 10\.0 1 = tied bolt 10\.0 10\.0", home)
        assert "scale: Frozen by the organisers" in home
        team = words("/teams/acme")
        assert "2 submissions, ranked on 1 board" in team
        assert "1 = tied of 2" in team
        assert "Ruled out by the organisers: it cheats" in words(f"/records/{ids['ruled']}")
        assert "Unverified: measured by the team" in words(f"/records/{ids['posted']}")
        waiting = words(f"/records/{ids['waiting']}")
        assert "waits for its turn" in waiting
        assert "Position 1 of those that wait for a build" in waiting
        queue = words("/queue")
        assert "1 submission on the way" in queue
        assert "1 bolt scale scale b200 build queued" in queue
        assert "Build workers 0" in queue
        acts = words("/acts")
        assert "frozen scale" in acts
        assert f"disqualified of core {ids['ruled']}" in acts
        problem = words("/problems/scale")
        assert "Frozen by the organisers, nothing is accepted or started for now: " in problem
        assert "Benchmarks" not in problem or "Shapes" in problem
        csv = requests.get(f"{url}/boards/scale-b200-closed.csv", timeout=ENOUGH_S)
        assert csv.headers["Content-Type"].startswith("text/csv")
        assert csv.text.splitlines()[1].startswith("1,True,acme,PASSED,10.0")


def test_a_team_is_called_as_it_wants_to_be(database):
    with database.write() as connection:
        add_team(connection, "acme", "Acme <b>Kernels</b>")
    conclude(database, "acme", 1, 10.0)
    with serving(database) as url:
        assert (
            "acme Acme <b>Kernels</b>. 1 submission"
            in Page(requests.get(f"{url}/teams/acme", timeout=ENOUGH_S).text).words
        )


def test_code_is_shown_from_the_moment_on_that_the_season_says(database):
    ids = make_season(database)
    with serving(database) as url:
        address = f"{url}/records/{ids['failed']}"
        before = Page(requests.get(address, timeout=ENOUGH_S).text).words
        with database.write() as connection:
            season = rules_now(connection).season
            change_season(connection, season, {"code_visible": "at_once"}, "ada", "the event is over", START_S)
        after = "".join(Page(requests.get(address, timeout=ENOUGH_S).text).text)
        acts = Page(requests.get(f"{url}/acts", timeout=ENOUGH_S).text).words
        for path in ("/", "/boards/scale-b200-closed", "/boards/scale-b200-closed.json", "/queue", "/acts"):
            assert "hl.dot" not in requests.get(url + path, timeout=ENOUGH_S).text, path
    assert "quotes the submission’s code is hidden (line 2 in custom_kernel)" in before
    assert "hl.dot" not in before
    assert "season changed test-season: code visible after close → at once" in acts
    assert after.count(SECRET) >= 3, "the message, the line, the source"
    assert "is hidden" not in after


def test_what_is_nowhere_has_a_page_that_says_so(database):
    make_season(database)
    absent = (
        "/boards/none", "/boards/scale-b200-closed/2", "/boards/scale-b200-closed/0", "/boards/scale-b200-closed/x",
        "/records/none", "/teams/none", "/teams/acme/2", "/problems/none", "/problems/..%2Fsecret", "/acts/2",
        "/acts/01",
        "/records/%00", "/teams/%f0%9f%92%a9", f"/boards/{'x' * 3000}", "/acts/99999999999999999999",
    )  # fmt: skip
    with serving(database) as url:
        for path in absent:
            answer = requests.get(url + path, timeout=ENOUGH_S)
            assert answer.status_code == 404, path
            assert "Content-Security-Policy" in answer.headers or "%2F" in path, path
        assert "Nothing is at this address." in requests.get(f"{url}/teams/none", timeout=ENOUGH_S).text
        assert requests.get(f"{url}/boards/none.csv", timeout=ENOUGH_S).status_code == 404
        assert requests.get(f"{url}/queue/7", timeout=ENOUGH_S).status_code == 200, "a queue moves under its reader"


def test_submissions_that_are_not_right_are_no_absence_of_submissions(database):
    join(database, "acme")
    with serving(database) as url:

        def see(path):
            return Page(requests.get(url + path, timeout=ENOUGH_S).text)

        for path in ("/", "/problems/scale"):
            assert "No submission yet." in see(path).words
        conclude(database, "acme", 1, verdict=VerdictRecord("INCORRECT", "judge", message="wrong"))
        for path in ("/", "/problems/scale"):
            assert "b200 · closed 1 submission, none right yet" in see(path).words
            assert "No submission yet." not in see(path).words
            assert ("a", "/boards/scale-b200-closed") in [(tag, a.get("href")) for tag, a in see(path).tags]
        assert "Latest submissions" in see("/boards/scale-b200-closed").words
        conclude(database, "acme", 2, verdict=VerdictRecord("HARNESS_ERROR", "judge", message="ours"))
        assert "b200 · closed 2 submissions, none right yet" in see("/").words
        conclude(database, "acme", 3, 10.0)
        assert "b200 · closed 1 ranked" in see("/").words
        assert "none right" not in see("/").words


def test_a_browser_gets_a_page_at_any_address_and_a_program_json(database):
    browser, program = "text/html,application/xhtml+xml,*/*;q=0.8", "*/*"
    with serving(database) as url:

        def ask(path, accept, method="GET"):
            answer = requests.request(method, url + path, headers={"Accept": accept}, timeout=ENOUGH_S)
            return answer.status_code, answer.headers["Content-Type"].partition(";")[0], answer

        for path in ("/nowhere", "/boards", "/apis", "/problems/scale/x", "/no%00where"):
            status, kind, answer = ask(path, browser)
            assert (status, kind) == (404, "text/html"), path
            assert "Nothing is at this address." in Page(answer.text).words
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert ask(path, program)[:2] == (404, "application/problem+json")
        for path in ("/api", "/api/v1/nowhere", "/api/v1/records/none"):
            assert ask(path, browser)[:2] == (404, "application/problem+json"), path
        assert ask("/nowhere", browser, "POST")[:2] == (404, "application/problem+json")
        assert ask("/acts", browser, "POST")[:2] == (405, "application/problem+json")


@pytest.mark.parametrize("visited", [False, True], ids=["never seen", "seen before"])
def test_a_problem_that_becomes_at_fault_is_told(database, tmp_path, monkeypatch, caplog, visited):
    monkeypatch.setattr(rules, "LOOK_AGAIN_S", 0.0)
    shutil.copytree(WORKSPACE, tmp_path / "root")
    task = tmp_path / "root" / "problems" / "scale" / "task.yml"
    whole = task.read_text()
    with serving(database, tmp_path / "root") as url:

        def get(path):
            return requests.get(url + path, timeout=ENOUGH_S)

        assert get("/problems/scale" if visited else "/").status_code == 200
        assert 'harness_problem_at_fault{problem="scale"} 0.0' in get("/metrics").text
        task.write_text(whole.replace("title:", "titel:"))
        answer = get("/problems/scale")
        assert (answer.status_code, answer.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
        assert "scale is at fault at the moment, and the organisers have been told." in Page(answer.text).words
        assert "titel" not in answer.text
        assert get("/readyz").json()["problems_at_fault"] == ["scale"]
        assert 'harness_problem_at_fault{problem="scale"} 1.0' in get("/metrics").text
        assert get("/").status_code == 200
        told = [line.fields for line in caplog.records if line.getMessage() == "problem at fault"]
        assert [(line["problem"], "titel" in line["why"]) for line in told] == [("scale", True)]
        assert [line for line in caplog.records if line.getMessage() == "database"] == []
        task.write_text(whole)
        assert get("/problems/scale").status_code == 200
        assert "problems_at_fault" not in get("/readyz").json()
        (tmp_path / "root" / "shapes.yaml").write_text("season: 7")
        assert get("/problems/scale").status_code == 200, "the season stays as it was"


def test_a_page_that_has_not_changed_is_not_sent_again(database):
    make_season(database)
    with serving(database) as url:
        for path in ("/", "/boards/scale-b200-closed", "/style.css"):
            first = requests.get(url + path, timeout=ENOUGH_S)
            tag = first.headers["ETag"]
            again = requests.get(url + path, headers={"If-None-Match": f'"x", W/{tag}'}, timeout=ENOUGH_S)
            assert (again.status_code, again.content) == (304, b""), path
            assert again.headers["ETag"] == tag
            head = requests.head(url + path, timeout=ENOUGH_S)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["ETag"] == tag
        conclude_one_more(database)
        changed = requests.get(f"{url}/teams/acme", headers={"If-None-Match": tag}, timeout=ENOUGH_S)
        assert changed.status_code == 200


def test_a_page_is_drawn_again_when_what_it_shows_has_changed():
    drawn, season = Drawn(), SeasonFacts("one")
    view, site = TeamView("acme"), Site(season, Links("/", "", ""), live=True)
    first = drawn.draw("/teams/acme", view, site)
    assert drawn.draw("/teams/acme", TeamView("acme"), dataclasses.replace(site)) is first
    assert "bolt" in drawn.draw("/teams/acme", TeamView("bolt"), site)
    assert "two" in drawn.draw("/teams/acme", view, dataclasses.replace(site, season=SeasonFacts("two")))
    for number in range(MOST + 5):
        drawn.draw(f"/teams/{number}", view, site)
    assert len(drawn._pages) == MOST


def test_a_long_queue_has_small_pages(database):
    """10,000 submissions wait: a page is of the usual size, and takes what it shows from the database alone."""
    first = submit_many(database, 10_000)
    with serving(database) as url:
        pages = {number: requests.get(f"{url}/queue/{number}", timeout=ENOUGH_S) for number in (1, 2, 250, 251)}
    assert max(len(answer.content) for answer in pages.values()) < MAX_PAGE_BYTES / 2
    words = {number: Page(answer.text).words for number, answer in pages.items()}
    assert "10,000 submissions on the way" in words[1]
    assert "Page 2 of 250" in words[2]
    assert first in words[1]
    assert [int(n) for n in re.findall(r"(\d+) team-\d\d scale scale b200", words[2])] == list(range(41, 81))
    assert "10000 team-39" in words[250]
    assert words[251] == words[250], "a queue moves under its reader"


def submit_many(database, count):
    """Put jobs of 40 teams into the queue at once; return the oldest one's name."""
    join(database, "team-00")
    like = submit(database, "team-00", now_s=START_S)
    with database.write() as connection:
        row = dict(connection.execute(select(jobs).where(jobs.c.id == like.id)).mappings().one())
        changed = (
            {"id": new_record_id(START_S + i), "team": f"team-{i % 40:02}", "idempotency_key": f"many-{i:06}"}
            for i in range(1, count)
        )
        connection.execute(insert(jobs), [row | change for change in changed])
    return like.id


def conclude_one_more(database):
    with database.write() as connection:
        organising.thaw(connection, "ada", "scale", "again", START_S)
    conclude(database, "acme", 60, 9.0)


def test_links_stay_under_the_prefix_of_a_proxy(database):
    make_season(database)
    with serving(database, root_path="/helion") as url:
        page = Page(requests.get(f"{url}/teams/acme", timeout=ENOUGH_S).text)
    links = [attributes["href"] for _, attributes in page.tags if "href" in attributes]
    assert "/helion/boards/scale-b200-closed" in links
    assert all(link.startswith("/helion/") or link in ("#main", "data:,") for link in links)
