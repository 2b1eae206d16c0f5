"""`python -m bench.service [--records N] [--seconds S] [--kills K] [--only NAME]`: what is promised of the service.

- boards: N records on SQLite and on PostgreSQL; the time of a board's query, and of its page over HTTP;
- rush: 100 submissions a second for S seconds, on PostgreSQL with commits that wait for the disk;
- kills: server and workers killed K times at random moments under load; what was acknowledged and is lost, what was
  scored twice, and how long until the service is ready again.

PostgreSQL is started here, in a temporary folder. Results go to stdout and bench/service.json; what is not measured
this time stays there as it was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from bench.__main__ import ROOT
from bench.service_boards import measure_boards
from bench.service_kills import measure_kills
from bench.service_rush import measure_rush
from bench.service_season import describe
from tests.service.cluster import Cluster

PROMISES = {
    "query_p99_ms": 5.0,
    "page_p99_ms": 60.0,
    "page_bytes": 100_000,
    "rush_p99_ms": 150.0,
    "ready_s": 5.0,
    "lost": 0,
    "twice": 0,
}
RESULTS = ROOT / "bench" / "service.json"


def main() -> int:
    asked = _parse()
    parts: dict[str, Callable[[Cluster], dict[str, Any]]] = {
        "boards": lambda cluster: measure_boards(cluster, asked.records, asked.filled),
        "rush": lambda cluster: measure_rush(cluster, asked.seconds),
        "kills": lambda cluster: measure_kills(cluster, asked.kills),
    }
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["promises"] = PROMISES
    cluster = Cluster(durable=True)
    try:
        for name in asked.only or parts:
            measured = {**describe(cluster), **parts[name](cluster)}
            results[name] = {**measured, "load_after": [round(load, 1) for load in os.getloadavg()]}
            print(json.dumps({name: results[name]}, indent=1), flush=True)
    finally:
        cluster.stop()
    results["broken promises"] = broken = find_broken(results)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print("broken promises:", ", ".join(broken) or "none")
    return 1 if broken else 0


def find_broken(results: dict[str, Any]) -> list[str]:
    """Return the promises that what was measured does not keep."""
    found: dict[str, tuple[str, float]] = {}
    for database, measured in results.get("boards", {}).get("databases", {}).items():
        for name in ("query", "query_after_record", "page", "page_after_record"):
            found[f"{database} {name}"] = f"{name.partition('_')[0]}_p99_ms", measured[name]["p99_ms"]
        sizes = [measured["board_bytes"], *(page["bytes"] for page in measured["other_pages"].values())]
        found[f"{database} largest page"] = "page_bytes", max(sizes)
    if "rush" in results:
        found["rush"] = "rush_p99_ms", results["rush"]["p99_ms"]
    if "kills" in results:
        kills = results["kills"]
        found |= {"ready": ("ready_s", kills["ready_s"]["max"]), "lost": ("lost", kills["lost"])}
        found["twice"] = "twice", kills["twice"]
    return [
        f"{what}: {value} instead of {PROMISES[name]}"
        for what, (name, value) in found.items()
        if value > PROMISES[name]
    ]


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", choices=["boards", "rush", "kills"], action="append")
    parser.add_argument("--filled", metavar="URL", action="append", default=[], help="a database filled before")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
