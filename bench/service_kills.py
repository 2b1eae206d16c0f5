"""Kills: server and workers, all at once, at random moments while teams submit and workers work."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median

import requests
from sqlalchemy import func, select

from bench.service_season import TEAMS, UNLIMITED, body, copy_workspace, found_teams, prepare, source
from harness.service.entries import RANKED
from harness.service.job import DONE
from harness.service.schema import entries, jobs
from harness.store.database import Database
from harness.store.schema import records
from tests.service.cluster import Cluster
from tests.service.event import record_outcome
from tests.service.server import Server

SOURCES = 200
STAGE_S = 0.1
"""What a stage of a recorded outcome takes."""

ALIVE_S = (0.1, 5.0)
"""How long a server lives before it is killed: some die before their workers have begun, most while they work."""

ATTEMPTS = 2
"""Of a submission that nothing interrupts: a build and a replay."""

ENOUGH_S = 600.0


def measure_kills(cluster: Cluster, kills: int) -> dict[str, object]:
    """Kill often, then let everything end, and count."""
    with tempfile.TemporaryDirectory(prefix="harness-bench-") as folder:
        root, url = copy_workspace(Path(folder)), cluster.url(cluster.make_database())
        database = prepare(url)
        tokens, outcomes = found_teams(database), Path(folder) / "outcomes"
        for i in range(SOURCES):
            record_outcome(outcomes, source(i), 10.0 + i / 10, build_s=STAGE_S, replay_s=STAGE_S)
        evaluate = ("--evaluate", f"recorded={outcomes}@1", "--targets", "b200")
        server = Server(root, url, *evaluate, "--workers", "build=2,gpu=1", **UNLIMITED)
        load = _Load(server, tokens)
        ready_s, chance = [], random.Random(2026)
        for _ in range(kills):
            time.sleep(chance.uniform(*ALIVE_S))
            server.kill()
            started_s = time.monotonic()
            server.start()
            ready_s.append(time.monotonic() - started_s)
        acknowledged = load.stop()
        _wait_until_done(database)
        server.stop()
        return {"kills": kills, "ready_s": _spread(ready_s), **_count(database, acknowledged)}


class _Load:
    """Posts submissions without a pause, each again with its key until it is acknowledged."""

    def __init__(self, server: Server, tokens: list[str]) -> None:
        self._server, self._tokens = server, tokens
        self._stopping = threading.Event()
        self._acknowledged: dict[str, str] = {}
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
            if self._post(f"kill-{number:08}", number):
                number += 1
            time.sleep(0.1)

    def _post(self, key: str, number: int) -> bool:
        headers = {"Authorization": f"Bearer {self._tokens[number % len(TEAMS)]}", "Idempotency-Key": key}
        place = f"{self._server.url}/api/v1/submissions"
        try:
            answer = requests.post(place, data=body(number % SOURCES), headers=headers, timeout=10)
        except requests.RequestException:
            return False
        if answer.status_code in (200, 202):
            self._acknowledged[key] = answer.json()["id"]
        return answer.status_code in (200, 202)


def _count(database: Database, acknowledged: dict[str, str]) -> dict[str, object]:
    """Count what was acknowledged and has no record, and what was stored, or counts on a board, more than once."""
    with database.read() as connection:
        stored = connection.execute(select(records.c.id, records.c.team, records.c.program, records.c.verdict)).all()
        submitted = connection.execute(select(jobs.c.id, jobs.c.idempotency_key, jobs.c.attempt)).all()
        shown = connection.execute(select(entries.c.record, entries.c.runs).where(entries.c.kind == RANKED)).all()
    programs = {row.id: (row.team, row.program) for row in stored}
    runs = Counter(programs.values())
    again = len(submitted) - len({row.idempotency_key for row in submitted})
    pooled = [row for row in shown if row.runs != runs[programs[row.record]]]
    return {
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged.values()) - set(programs)),
        "twice": again + len(acknowledged) - len(set(acknowledged.values())) + len(pooled),
        "jobs": len(submitted),
        "records": len(stored),
        "interrupted_attempts": sum(row.attempt for row in submitted) - ATTEMPTS * len(submitted),
        "verdicts": dict(Counter(row.verdict for row in stored)),
    }


def _wait_until_done(database: Database) -> None:
    deadline = time.monotonic() + ENOUGH_S
    while time.monotonic() < deadline:
        with database.read() as connection:
            if not connection.execute(select(func.count()).where(jobs.c.state != DONE)).scalar():
                return
        time.sleep(0.5)
    raise SystemExit("the queue did not empty in ten minutes")


def _spread(values: list[float]) -> dict[str, float]:
    return {"p50": round(median(values), 2), "max": round(max(values), 2)}
