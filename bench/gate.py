"""`python -m bench.gate`: time the gate on a pull request with one changed starter; compare with the promise.

The pull request is made of the repository as it stands, committed in a scratch copy: a new team with the starter of the
longest problem. The commands are those of .github/workflows/submission.yml, with nothing built before. What a hosted
machine adds (starting, restoring the environment from the cache) is not in it. Writes bench/gate.json.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from bench.__main__ import HARNESS, ROOT
from harness.spec import load_season

PROBLEM = "chunk_fwd_h"
PROMISED_S = 90.0


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        steps = measure(Path(folder))
    gate_s = round(sum(step["wall_s"] for step in steps.values()), 1)
    results = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(os.getloadavg()[1], 1),
        "problem": PROBLEM,
        "targets": list(load_season(ROOT).targets),
        "steps": steps,
        "gate_s": gate_s,
        "promised_s": PROMISED_S,
    }
    (ROOT / "bench" / "gate.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))
    return 0 if gate_s <= PROMISED_S else 1


def measure(folder: Path) -> dict[str, dict[str, float]]:
    place = folder / "competition"
    for name in ("problems", "submissions", ".github"):
        shutil.copytree(ROOT / name, place / name)
    shutil.copy(ROOT / "shapes.yaml", place)
    (place / ".gitignore").write_text(".harness/\n")
    base = commit(place, "base")
    shutil.copytree(ROOT / "submissions" / "starter" / PROBLEM, place / "submissions" / "bench" / PROBLEM)
    (place / "submissions" / "bench" / "team.yml").write_text("logins: [octocat]\n")
    head = commit(place, "submission")
    git(place, "checkout", "-q", base)
    asked = ["--base", base, "--head", head, "--author", "octocat"]
    out = str(folder / "report")
    steps = {
        "changed": timed(place, "ci", "changed", *asked, "--out", out),
        "run": timed(place, "ci", "run", "--out", out),
    }
    records = json.loads((folder / "report" / "report.json").read_text())["records"]
    if any(record["verdict"]["kind"] != "CHECKED" for record in records):
        raise SystemExit(f"not checked: {[record['verdict'] for record in records]}")
    return steps


def timed(place: Path, *arguments: str) -> dict[str, float]:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([HARNESS, *arguments], cwd=place, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(time.monotonic() - started, 2), "cpu_s": round(cpu_s, 2)}


def commit(place: Path, message: str) -> str:
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", message)
    return git(place, "rev-parse", "HEAD")


def git(place: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=place, capture_output=True, check=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
