"""A whole event in fast time: many teams, organisers' mistakes, a crash, a rush at the deadline.

Real processes and real HTTP; what the compiler and the GPU would have said was recorded before. At the end every
submission that was acknowledged is there, once, and boards and standings are those that `recount` makes of the records.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import shutil
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone

import pytest
import requests

from harness.service.organising import found_team, give_token
from harness.spec import find_problem
from harness.store.files import save_records
from harness.store.record import VerdictRecord
from tests.service.event import WORKSPACE, source_sha256
from tests.service.recount import Recount, read, standings
from tests.service.server import ENOUGH_S, Server
from tests.store.samples import passed

WHOLE = 40
"""Teams of an event in which everything happens that can."""

TARGETS = ("b200", "h200")
CHECKED = VerdictRecord("CHECKED", "judge", message="all test cases pass")
INCORRECT = VerdictRecord("INCORRECT", "judge", reason="wrong_values", message="wrong")
SPREAD = (-0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4)
"""Of a case's samples round its time, in microseconds."""


@dataclass(frozen=True)
class Entry:
    """What a team will submit, and what will come of it."""

    team: str
    source: str
    kind: str
    score_us: float
    program: str
    target: str


def plan(teams, count):
    """What the teams will do: better programs, wrong ones, the same again, copies of others', ones that no GPU saw."""
    chance = random.Random(12)
    entries = []
    for number in range(count):
        team = teams[number % len(teams)]
        kind = chance.choices(("PASSED", "INCORRECT", "CHECKED"), (80, 12, 8))[0]
        source = f"# {team} {number}\ndef custom_kernel(data): ..."
        score_us = round(chance.uniform(50, 60) * (1 - 0.8 * min(1, 1.5 * number / count)), 3)
        entry = Entry(team, source, kind, score_us, _sha256(source), chance.choices(TARGETS, (3, 1))[0])
        before = [one for one in entries if one.kind == "PASSED" == entry.kind]
        way = chance.random()
        if before and way < 0.2:  # a program measured again: the team's best, or another's under other words
            own = [one for one in before if one.team == team]
            old = min(own, key=_score_us) if own and chance.random() < 0.6 else chance.choice(before[-60:])
            score_us = round(old.score_us * chance.uniform(0.98, 1.02), 3)
            entry = dataclasses.replace(entry, program=old.program, score_us=score_us)
        elif before and way < 0.25:  # another's source as it is
            old = min(before, key=_score_us)
            entry = dataclasses.replace(old, team=team, target=entry.target)
        elif before and way < 0.45:  # within the noise of the best
            best_us = min(one.score_us for one in before)
            entry = dataclasses.replace(entry, score_us=round(best_us * chance.uniform(0.995, 1.015), 3))
        entries.append(entry)
    return entries


def _score_us(entry):
    return entry.score_us


def _sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def record_of(entry, version):
    """The outcome of an entry, as it was recorded."""
    sha256 = source_sha256(entry.source)
    record = passed("recorded", entry.score_us)
    cases = tuple(_with_samples(case) for case in record.cases)
    named = {"problem": "scale", "source_sha256": sha256, "normalised_source_sha256": _sha256("n" + entry.source)}
    record = dataclasses.replace(record, **named, problem_version=version, program_sha256=entry.program, cases=cases)
    if entry.kind == "PASSED":
        return record
    verdict = CHECKED if entry.kind == "CHECKED" else INCORRECT
    return dataclasses.replace(record, verdict=verdict, ranked=False, score_us=None, unranked_reason="no GPU")


def _with_samples(case):
    if case.timing is None:
        return case
    spans = tuple(case.timing.time_us + away for away in SPREAD)
    timing = dataclasses.replace(case.timing, samples=len(spans), spans_us=spans)
    return dataclasses.replace(case, timing=timing)


class Crowd:
    """The teams' clients: each asks until it is answered, with the same key, whatever becomes of the server."""

    def __init__(self, server, tokens):
        self.server, self.tokens = server, tokens
        self.taken, self.refused = {}, Counter()
        self._lock = threading.Lock()
        self._numbers = iter(range(1_000_000))

    def submit(self, entry):
        """Return the id of a submission, None if the season does not take it."""
        with self._lock:
            key = f"event-{next(self._numbers):06}"
        deadline = time.monotonic() + ENOUGH_S
        while True:
            try:
                answer = self.server.submit(self.tokens[entry.team], entry.source, key, target=entry.target)
            except requests.RequestException:
                answer = None
            if answer is not None and answer.status_code in (200, 202):
                with self._lock:
                    self.taken[answer.json()["id"]] = entry
                return answer.json()["id"]
            if answer is not None and answer.status_code == 403:
                with self._lock:
                    self.refused[answer.json()["type"].rpartition(":")[2]] += 1
                return None
            assert time.monotonic() < deadline, answer and answer.text
            time.sleep(0.1)

    def submit_all(self, entries, threads=8):
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self.submit, entries))


class Event:
    """An event over a database: its server, its teams, its organiser."""

    def __init__(self, root, database, database_url, teams, count):
        shutil.copytree(WORKSPACE, root / "repository")
        self.database, self.teams = database, [f"crew-{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(teams)]
        with database.write() as connection:
            tokens = {}
            for team in self.teams:
                found_team(connection, "test", team, "", time.time())
                tokens[team] = give_token(connection, "test", time.time(), team=team, days=1)[1]
            self.ada = give_token(connection, "test", time.time(), holder="ada", days=1)[1]
        self.entries = plan(self.teams, count)
        outcomes = root / "outcomes"
        outcomes.mkdir()
        options = ("--workers", "build=1,gpu=1", "--targets", ",".join(TARGETS), "--evaluate", f"recorded={outcomes}")
        limits = {"HARNESS_PENDING": "100000", "HARNESS_PER_HOUR": "100000"}
        version = find_problem(root / "repository", "scale").version
        save_records([record_of(entry, version) for entry in {e.source: e for e in self.entries}.values()], outcomes)
        self.server = Server(root / "repository", database_url, *options, **limits)
        self.crowd = Crowd(self.server, tokens)

    def act(self, **what):
        answer = self.server.post("/api/v1/acts", self.ada, {"reason": "the event", **what})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path):
        return self.server.get(f"/api/v1/{path}").json()

    def wait_until_done(self, *, left=0):
        deadline = time.monotonic() + ENOUGH_S
        while len(self.get("queue?limit=1000")) > left:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def run(event):
    """Hold the event; return the closing moment."""
    part = len(event.entries) // 6
    parts = [event.entries[i * part : (i + 1) * part] for i in range(5)] + [event.entries[5 * part :]]
    event.crowd.submit_all(parts[0])
    event.act(act="disqualify", team=event.teams[1], reason="copied (it was another team: a mistake)")
    event.crowd.submit_all(parts[1])
    _crash(event, parts[2])
    assert event.server.get("/readyz").status_code == 200
    event.act(act="season", changes={"closes": "2024-01-01T00:00:00Z"}, reason="the wrong date: a mistake")
    assert event.crowd.submit_all(parts[3][: len(event.teams)]) == [None] * min(len(event.teams), len(parts[3]))
    event.act(act="season", changes={"closes": None}, reason="the right one")
    event.crowd.submit_all(parts[3])
    event.wait_until_done()
    event.act(act="reinstate", team=event.teams[1], reason="it was another team")
    best = event.get("boards/scale/b200/closed")["ranked"]
    event.act(act="disqualify", record=best[0]["record"], reason="it reads what it should not")
    event.act(act="rerun", submission=best[1]["record"], reason="the wrong one: a mistake")
    event.crowd.submit_all(parts[4])
    closes_s = time.time() + 0.02 * len(parts[5])
    event.act(
        act="season", changes={"closes": datetime.fromtimestamp(closes_s, timezone.utc).isoformat()}, reason="soon"
    )
    event.crowd.submit_all(parts[5], threads=len(event.teams))
    event.wait_until_done()
    first, _, third = event.get("boards/scale/b200/closed")["ranked"][:3]
    event.act(act="disqualify", record=first["record"], reason="read after the end: it knows the benchmark's shapes")
    event.act(act="rerun", submission=third["record"], reason="the GPU was hot")
    event.wait_until_done()
    return closes_s


def _crash(event, entries):
    """kill -9 of everything while teams submit and workers work; started again, it goes on."""
    with ThreadPoolExecutor(1) as pool:
        posting = pool.submit(event.crowd.submit_all, entries)
        before = len(event.crowd.taken)
        deadline = time.monotonic() + ENOUGH_S
        while len(event.crowd.taken) < before + len(entries) // 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        event.server.kill()
        event.server.start()
        posting.result()


def check_that_nothing_is_lost(event, closes_s):
    """Each acknowledged submission has one record, of the outcome that it must have; each re-run as well."""
    engine, taken = event.database.engine, event.crowd.taken
    jobs = read(engine, "SELECT id, state, rerun_of, submitted_s FROM jobs")
    records = {row["document"]["id"]: row["document"] for row in read(engine, "SELECT document FROM records")}
    assert {job["state"] for job in jobs} == {"done"}
    assert len(jobs) == len(records) == len(taken) + 2
    assert {job["id"] for job in jobs if not job["rerun_of"]} == set(taken)
    for name, entry in taken.items():
        found = records[name]
        assert (found["team"], found["target"], found["verdict"]["kind"]) == (entry.team, entry.target, entry.kind)
        assert found["source_sha256"] == source_sha256(entry.source)
    assert all(job["submitted_s"] < closes_s for job in jobs)
    assert set(event.crowd.refused) <= {"season-closed"}
    assert sum(event.crowd.refused.values()) + len(taken) == len(event.entries) + len(event.teams)


def check_that_boards_are_right(event):
    """Boards and standings, as everybody gets them, are those of a count anew."""
    recount, points = Recount(event.database.engine), {"scale": 10}
    assert recount.out
    for target in TARGETS:
        shown = event.get(f"boards/scale/{target}/closed")
        board = recount.board(target, shown["noise"])
        rows = shown["ranked"]
        assert [(r["place"], r["tied"], r["team"], r["record"], r["runs"], r["same_program_as"]) for r in rows] == [
            (r.place, r.tied, r.team, r.record, r.runs, r.same_program_as) for r in board
        ]
        assert [r["score_us"] for r in rows] == pytest.approx([r.score_us for r in board], rel=1e-9)
        assert {r["team"]: r["record"] for r in shown["unranked"]} == recount.unranked(target, board)
        told = event.get(f"standings/{target}/closed")
        assert [(s["place"], s["team"], s["points"]) for s in told] == standings({"scale": board}, points)
        assert len(board) >= len(event.teams) // 2
        assert target != TARGETS[0] or any(r.runs > 1 for r in board)
        if len(event.teams) >= WHOLE:
            assert any(r.tied for r in board)
            assert any(r.same_program_as for r in board)


def hold(tmp_path, database, database_url, teams, count):
    event = Event(tmp_path, database, database_url, teams, count)
    try:
        closes_s = run(event)
        check_that_nothing_is_lost(event, closes_s)
        check_that_boards_are_right(event)
        assert event.server.stop() == 0
    finally:
        if event.server.process.poll() is None:
            event.server.kill()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_small_event(tmp_path, database, database_url):
    hold(tmp_path, database, database_url, 10, 96)


@pytest.mark.slow
def test_a_whole_event(tmp_path, database, database_url):
    hold(tmp_path, database, database_url, WHOLE, 600)
