"""A season to measure: a workspace, a database with teams and tokens, requests to submit, and how times are told."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from harness.service import form
from harness.service.organising import found_team, give_token
from harness.store.database import Database
from tests.service.cluster import Cluster
from tests.service.server import document

WORKSPACE = Path(__file__).parents[1] / "tests" / "workspace"
TEAMS = tuple(f"team-{i:02}" for i in range(48))
UNLIMITED = {"HARNESS_PENDING": "1000000", "HARNESS_PER_HOUR": "1000000"}


def prepare(url: str) -> Database:
    """Return a database of today's form."""
    database = Database(url, 15.0)
    form.prepare(database, migrate=True)
    return database


def found_teams(database: Database) -> list[str]:
    """Found the teams, and return a token of each."""
    with database.write() as connection:
        for team in TEAMS:
            found_team(connection, "bench", team, "", time.time())
        return [give_token(connection, "bench", time.time(), team=team, days=1)[1] for team in TEAMS]


def copy_workspace(folder: Path) -> Path:
    """Return a copy of the tests' repository."""
    return Path(shutil.copytree(WORKSPACE, folder / "repository"))


def source(number: int) -> str:
    """Return a submission of a usual size, another one for each number."""
    kernel = "def custom_kernel(data):\n    return data\n"
    return f"# number {number}\n{kernel}" + "# a line of a kernel, as long as most\n" * 100


def body(number: int) -> bytes:
    """Return the body of a request that submits it."""
    return json.dumps(document(source(number))).encode()


def request(server_url: str, token: str, key: str, content: bytes) -> bytes:
    """Return a whole request that submits, as it goes over the wire."""
    headers = {
        "Host": urlsplit(server_url).netloc,
        "Authorization": f"Bearer {token}",
        "Idempotency-Key": key,
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
    }
    lines = ["POST /api/v1/submissions HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


def describe(cluster: Cluster) -> dict[str, object]:
    """Say where and with what something is measured."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M"),
        "cores": len(os.sched_getaffinity(0)),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "load_before": [round(load, 1) for load in os.getloadavg()],
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "postgresql": cluster.ask("SHOW server_version"),
        },
        "postgresql": {name: cluster.ask(f"SHOW {name}") for name in ("fsync", "synchronous_commit")},
    }


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and of its children, those that have ended included."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended just now
            continue
        if int(path.parent.name) == pid:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            total += sum(map(int, fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


@contextmanager
def timed(times_s: list[float]) -> Iterator[None]:
    """Add what something takes."""
    started_s = time.perf_counter()
    yield
    times_s.append(time.perf_counter() - started_s)


def spread_ms(times_s: Iterable[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the largest, in milliseconds."""
    ordered = sorted(times_s)
    p99_s = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return {
        "p50_ms": round(1e3 * median(ordered), 2),
        "p99_ms": round(1e3 * p99_s, 2),
        "max_ms": round(1e3 * ordered[-1], 2),
    }
