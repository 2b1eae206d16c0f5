"""`python -m bench.service [--records N] [--seconds S] [--kills K] [--only NAME]`: what is promised of the service.

- boards: N records on SQLite and on PostgreSQL; the time of a board's query, and of its page over HTTP;
- rush: 100 submissions a second for S seconds, on PostgreSQL with commits that wait for the disk;
- kills: server and workers killed K times at random moments under load; what was acknowledged and is lost, what was
  scored twice, and how long until the service is ready again.

PostgreSQL is started here, in a temporary folder. Results go to stdout and bench/service.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

import requests
from sqlalchemy import func, select

from bench.__main__ import ROOT
from bench.service_records import fill
from harness.service import form
from harness.service.job import DONE
from harness.service.organising import found_team, give_token
from harness.service.reading import list_boards, load_board
from harness.service.schema import jobs
from harness.site.links import board_page
from harness.store.database import Database
from harness.store.schema import records
from tests.service.cluster import Cluster
from tests.service.event import record_outcome
from tests.service.server import Server

PROMISES = {"query_p99_ms": 5.0, "page_p99_ms": 60.0, "rush_p99_ms": 150.0, "ready_s": 5.0, "lost": 0, "twice": 0}
TEAMS = 40
RATE = 100
WORKSPACE = ROOT / "tests" / "workspace"
UNLIMITED = {"HARNESS_PENDING": "1000000", "HARNESS_PER_HOUR": "1000000"}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", choices=["boards", "rush", "kills"])
    asked = parser.parse_args()
    results: dict[str, object] = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(os.getloadavg()[0], 1),
        "promises": PROMISES,
    }
    cluster = Cluster(durable=True)
    try:
        for name in [asked.only] if asked.only else ["boards", "rush", "kills"]:
            results[name] = globals()[f"measure_{name}"](cluster, asked)
            print(json.dumps({name: results[name]}, indent=1), flush=True)
    finally:
        cluster.stop()
    (ROOT / "bench" / "service.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


def measure_boards(cluster: Cluster, asked: argparse.Namespace) -> dict[str, object]:
    found = {}
    for kind in ("sqlite", "postgresql"):
        with tempfile.TemporaryDirectory(prefix="harness-bench-") as folder:
            root = copy_workspace(Path(folder))
            url = f"sqlite:///{folder}/service.sqlite" if kind == "sqlite" else cluster.url(cluster.make_database())
            database = prepare(url)
            started_s = time.monotonic()
            fill(database, asked.records)
            filled_s = time.monotonic() - started_s
            found[kind] = {
                "records": asked.records,
                "fill_s": round(filled_s),
                "query": measure_query(database),
                "page": measure_page(root, url, database),
            }
            database.close()
    return found


def measure_query(database: Database) -> dict[str, float]:
    """Time what a board is made of, decoded and ranked, from a database that has the pages in memory."""
    times_s = []
    with database.read() as connection:
        keys = list_boards(connection)
        for key in [random.choice(keys) for _ in range(300)]:
            started_s = time.perf_counter()
            board = load_board(connection, key)
            times_s.append(time.perf_counter() - started_s)
            assert len(board.entries) > TEAMS / 2
    return spread_ms(times_s)


def measure_page(root: Path, url: str, database: Database) -> dict[str, float]:
    with database.read() as connection:
        pages = [f"/{board_page(key)}" for key in list_boards(connection)]
    server = Server(root, url, "--workers", "build=0", "--evaluate", "engine")
    session = requests.Session()
    times_s = []
    try:
        for i in range(400):
            started_s = time.perf_counter()
            answer = session.get(server.url + pages[i % len(pages)], timeout=60)
            times_s.append(time.perf_counter() - started_s)
            assert answer.status_code == 200, answer.text
    finally:
        server.stop()
    return {**spread_ms(times_s), "largest_kib": round(len(answer.content) / 1024, 1)}


def measure_rush(cluster: Cluster, asked: argparse.Namespace) -> dict[str, object]:
    """Send at a fixed rate, whatever the answers take; a time counts from when its request was due."""
    with tempfile.TemporaryDirectory(prefix="harness-bench-") as folder:
        root, url = copy_workspace(Path(folder)), cluster.url(cluster.make_database())
        tokens = found_teams(prepare(url))
        server = Server(root, url, "--workers", "build=0", **UNLIMITED)
        count, begin_s = RATE * asked.seconds, time.perf_counter() + 1.0
        local = threading.local()

        def post(i: int) -> float:
            due_s = begin_s + i / RATE
            time.sleep(max(0.0, due_s - time.perf_counter()))
            if not hasattr(local, "session"):
                local.session = requests.Session()
            headers = {"Authorization": f"Bearer {tokens[i % TEAMS]}", "Idempotency-Key": f"rush-{i:08}"}
            answer = local.session.post(server.url + "/api/v1/submissions", data=body(i), headers=headers, timeout=60)
            assert answer.status_code == 202, answer.text
            return time.perf_counter() - due_s

        try:
            with ThreadPoolExecutor(32) as pool:
                times_s = list(pool.map(post, range(count)))
        finally:
            server.stop()
    return {"per_second": RATE, "submissions": count, **spread_ms(times_s)}


def measure_kills(cluster: Cluster, asked: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="harness-bench-") as folder:
        root, url = copy_workspace(Path(folder)), cluster.url(cluster.make_database())
        database = prepare(url)
        tokens = found_teams(database)
        outcomes = Path(folder) / "outcomes"
        for i in range(200):
            record_outcome(outcomes, source(i), 10.0 + i / 10, build_s=0.05, replay_s=0.05)
        evaluate = ("--evaluate", f"recorded={outcomes}@1", "--targets", "b200")
        server = Server(root, url, *evaluate, "--workers", "build=2,gpu=1", **UNLIMITED)
        load = Load(server, tokens)
        ready_s = []
        chance = random.Random(2026)
        for _ in range(asked.kills):
            time.sleep(chance.uniform(0.1, 2.0))
            server.kill()
            started_s = time.monotonic()
            server.start()
            ready_s.append(time.monotonic() - started_s)
        acknowledged = load.stop()
        wait_until_done(database)
        server.stop()
        return {"kills": asked.kills, **count_results(database, acknowledged), "ready_s": spread(ready_s)}


class Load:
    """Posts submissions without a pause, each again with its key until it is acknowledged."""

    def __init__(self, server: Server, tokens: list[str]) -> None:
        self._server, self._tokens = server, tokens
        self._stopping, self._acknowledged = threading.Event(), {}
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> dict[str, str]:
        """Return the ids that were acknowledged, by their keys."""
        self._stopping.set()
        self._thread.join()
        return self._acknowledged

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            key, token = f"kill-{number:08}", self._tokens[number % TEAMS]
            headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
            try:
                answer = requests.post(
                    self._server.url + "/api/v1/submissions", data=body(number % 200), headers=headers, timeout=10
                )
            except requests.RequestException:
                time.sleep(0.05)
                continue
            if answer.status_code in (200, 202):
                self._acknowledged[key] = answer.json()["id"]
                number += 1
            time.sleep(0.1)


def count_results(database: Database, acknowledged: dict[str, str]) -> dict[str, object]:
    with database.read() as connection:
        stored = list(connection.scalars(select(records.c.id)))
        verdicts = connection.execute(select(records.c.verdict, func.count()).group_by(records.c.verdict)).all()
        done = set(connection.scalars(select(jobs.c.id).where(jobs.c.state == DONE)))
    return {
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged.values()) - (set(stored) & done)),
        "twice": len(stored) - len(set(stored)) + len(acknowledged) - len(set(acknowledged.values())),
        "records": len(stored),
        "done": len(done),
        "verdicts": {row[0]: row[1] for row in verdicts},
    }


def wait_until_done(database: Database) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        with database.read() as connection:
            if not connection.execute(select(func.count()).where(jobs.c.state != DONE)).scalar():
                return
        time.sleep(0.5)
    raise SystemExit("the queue did not empty in ten minutes")


def prepare(url: str) -> Database:
    database = Database(url, 15.0)
    form.prepare(database, migrate=True)
    return database


def found_teams(database: Database) -> list[str]:
    with database.write() as connection:
        for i in range(TEAMS):
            found_team(connection, "bench", f"team-{i:02}", "", time.time())
        return [give_token(connection, "bench", time.time(), team=f"team-{i:02}", days=1)[1] for i in range(TEAMS)]


def copy_workspace(folder: Path) -> Path:
    return Path(shutil.copytree(WORKSPACE, folder / "repository"))


def source(i: int) -> str:
    """A submission of a usual size, another one for each number."""
    return (
        f"# number {i}\n"
        + "def custom_kernel(data):\n    return data\n"
        + "# a line of a kernel, as long as most\n" * 100
    )


def body(i: int) -> bytes:
    from tests.service.server import document

    return json.dumps(document(source(i))).encode()


def spread_ms(times_s: list[float]) -> dict[str, float]:
    ordered = sorted(times_s)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return {
        "p50_ms": round(1e3 * median(ordered), 2),
        "p99_ms": round(1e3 * p99, 2),
        "max_ms": round(1e3 * ordered[-1], 2),
    }


def spread(values: list[float]) -> dict[str, float]:
    return {"p50": round(median(values), 2), "max": round(max(values), 2)}


if __name__ == "__main__":
    sys.exit(main())
