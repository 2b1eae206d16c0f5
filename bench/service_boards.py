"""Boards of very many records: a query and a page, unchanged and just after a record has come; how large pages are."""

from __future__ import annotations

import http.client
import itertools
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, select

from bench.service_records import KEYS, fill, record_of
from bench.service_season import TEAMS, UNLIMITED, copy_workspace, prepare, source, spread_ms, timed
from harness.service.accepting import accept
from harness.service.entries import BoardKey
from harness.service.job import DONE
from harness.service.reading import load_board
from harness.service.received import Received
from harness.service.results import store_record
from harness.service.rules import RulesFile
from harness.service.schema import jobs
from harness.service.settings import Limits
from harness.site.links import board_page
from harness.store.database import Database
from harness.store.schema import records
from tests.service.cluster import Cluster
from tests.service.server import Server

QUERIES, PAGES = 500, 500
WAITING = 240
"""Submissions in the queue, whose page is measured, too."""


def measure_boards(cluster: Cluster, count: int, filled: list[str]) -> dict[str, object]:
    """Measure on SQLite and on PostgreSQL; on databases that were filled before, where there are such."""
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="harness-bench-") as folder:
        root = copy_workspace(Path(folder))
        for url in filled or [f"sqlite:///{folder}/service.sqlite", cluster.url(cluster.make_database())]:
            database = prepare(url)
            if not filled:
                fill(database, count)
            found[database.engine.dialect.name] = _measure(root, url, database)
            database.close()
    return {"databases": found}


def _measure(root: Path, url: str, database: Database) -> dict[str, object]:
    with database.read() as connection:
        count = connection.execute(select(func.count()).select_from(records)).scalar_one()
        waiting = connection.execute(select(func.count()).where(jobs.c.state != DONE)).scalar_one()
    _queue(database, root, WAITING - waiting)
    landing = _Landing(database, count)
    measured = {"records": count, **_measure_queries(database, landing)}
    server = Server(root, url, "--workers", "build=0", "--evaluate", "engine", **UNLIMITED)
    try:
        return {**measured, **_measure_pages(server, landing), "record_stored": spread_ms(landing.times_s)}
    finally:
        server.stop()


class _Landing:
    """Records that come, each of a team whose turn it is: some are its best, most are not."""

    def __init__(self, database: Database, count: int) -> None:
        self._database, self._numbers = database, itertools.count(count)
        self._chance = random.Random(count)
        self.times_s: list[float] = []

    def land(self, key: BoardKey) -> None:
        """Store a record on a board."""
        number = next(self._numbers)
        record = record_of(key, self._chance.choice(TEAMS), number, self._chance.uniform(95, 200), self._chance)
        with timed(self.times_s), self._database.write() as connection:
            store_record(connection, record)


def _measure_queries(database: Database, landing: _Landing) -> dict[str, object]:
    """Time what a board is made of, found, decoded and ranked."""

    def load(key: BoardKey) -> None:
        with database.read() as connection, timed(times_s):
            assert len(load_board(connection, key).entries) == len(TEAMS)

    times_s: list[float] = []
    for key in KEYS:
        load(key)
    first, times_s = times_s, []
    for key in _at_random(QUERIES):
        load(key)
    unchanged, times_s = times_s, []
    for key in _at_random(QUERIES):
        landing.land(key)
        load(key)
    return {"query_first": spread_ms(first), "query": spread_ms(unchanged), "query_after_record": spread_ms(times_s)}


def _measure_pages(server: Server, landing: _Landing) -> dict[str, object]:
    visitor = _Visitor(server)
    for key in KEYS:
        visitor.get(_page(key))
    first = visitor.take()
    for key in _at_random(PAGES):
        visitor.get(_page(key))
    unchanged = visitor.take()
    for key in _at_random(PAGES):
        landing.land(key)
        visitor.get(_page(key))
    after = visitor.take()
    team, record = TEAMS[0], _best(visitor, KEYS[0])
    others = ("/", f"/teams/{team}", f"/teams/{team}/2", f"/records/{record}", "/problems/scale", "/queue", "/acts")
    taken = {}
    for place in others:
        for _ in range(20):
            visitor.get(place)
        taken[place.replace(record, "ID")] = {**spread_ms(visitor.take()), "bytes": visitor.sizes[place]}
    boards = max(visitor.sizes[_page(key)] for key in KEYS)
    return {
        "page_first": spread_ms(first),
        "page": spread_ms(unchanged),
        "page_after_record": spread_ms(after),
        "board_bytes": boards,
        "other_pages": taken,
    }


class _Visitor:
    """Somebody who asks for pages, over a connection that is kept open."""

    def __init__(self, server: Server) -> None:
        self._place = urlsplit(server.url).netloc
        self._connection = http.client.HTTPConnection(self._place, timeout=120)
        self._times_s: list[float] = []
        self.sizes: dict[str, int] = {}

    def get(self, path: str) -> str:
        """Ask for a page, and time the whole of it."""
        with timed(self._times_s):
            self._connection.request("GET", path)
            answer = self._connection.getresponse()
            content = answer.read()
        assert answer.status == 200, content[:500]
        self.sizes[path] = max(len(content), self.sizes.get(path, 0))
        return content.decode()

    def take(self) -> list[float]:
        """Return the times since the last call."""
        times_s, self._times_s = self._times_s, []
        return times_s


def _queue(database: Database, root: Path, count: int) -> None:
    """Put submissions into the queue, of every team."""
    for number in range(max(0, count)):
        files = (("submission.py", source(number).encode()),)
        received = Received("scale", "", "", "default", "", files)
        key, limits = f"waiting-{time.time_ns()}", Limits(pending=10**6, per_hour=10**6)
        with database.write() as connection:
            rules = RulesFile(root).current(connection)
            accept(connection, TEAMS[number % len(TEAMS)], received, key, rules, limits, time.time())


def _at_random(count: int) -> Iterator[BoardKey]:
    chance = random.Random(7)
    return (chance.choice(KEYS) for _ in range(count))


def _page(key: BoardKey) -> str:
    return f"/{board_page(key)}"


def _best(visitor: _Visitor, key: BoardKey) -> str:
    return visitor.get(_page(key)).partition("/records/")[2].partition('"')[0]
