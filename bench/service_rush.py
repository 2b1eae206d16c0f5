"""The rush: submissions at a fixed rate on PostgreSQL, each acknowledged when the disk has it."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, select

from bench.service_load import send_at_rate
from bench.service_season import (
    TEAMS,
    UNLIMITED,
    body,
    copy_workspace,
    cpu_s,
    found_teams,
    prepare,
    request,
    spread_ms,
)
from harness.service.schema import jobs
from harness.store.database import Database
from tests.service.cluster import Cluster
from tests.service.server import Server

RATE = 100


def measure_rush(cluster: Cluster, seconds: int) -> dict[str, object]:
    """Send 100 submissions a second for some seconds; server, client and database share the machine."""
    with tempfile.TemporaryDirectory(prefix="harness-bench-") as folder:
        root, url = copy_workspace(Path(folder)), cluster.url(cluster.make_database())
        database = prepare(url)
        tokens = found_teams(database)
        server = Server(root, url, "--workers", "build=0", **UNLIMITED)
        try:
            return _send(server, cluster, database, tokens, RATE * seconds)
        finally:
            server.stop()
            database.close()


def _send(server: Server, cluster: Cluster, database: Database, tokens: list[str], count: int) -> dict[str, object]:
    requests = [request(server.url, tokens[i % len(TEAMS)], f"rush-{i:08}", body(i)) for i in range(count)]
    processes = {"server": server.process.pid, "database": cluster.pid}
    before_s = {name: cpu_s(pid) for name, pid in processes.items()}
    place = urlsplit(server.url)
    answered = send_at_rate((place.hostname or "", place.port or 0), requests, RATE)
    spent_s = {name: cpu_s(pid) - before_s[name] for name, pid in processes.items()} | {"client": answered.cpu_s}
    with database.read() as connection:
        stored = connection.execute(select(func.count()).select_from(jobs)).scalar()
    return {
        "per_second": RATE,
        "submissions": count,
        "answers": dict(Counter(answered.statuses)),
        "stored": stored,
        "wall_s": round(answered.wall_s, 1),
        **spread_ms(answered.times_s),
        "cpu_ms_per_submission": {name: round(1e3 * value / count, 2) for name, value in spent_s.items()},
    }
