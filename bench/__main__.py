"""`python -m bench [PROBLEM ...]`: time the main job, its build and its check; compare with the promises.

Every figure is measured on a copy of the repository with nothing cached. Results go to stdout and bench/last.json.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from harness.toolchain import installed_versions

ROOT = Path(__file__).parents[1]
HARNESS = ROOT / ".venv" / "bin" / "harness"
TARGET = "b200"
PROMISES = {
    "help_s": 0.3,
    "usage_error_s": 0.5,
    "submit_cold_s": 60.0,
    "submit_again_s": 10.0,
    "build_over_one_process": 1.3,
    "check_tests_s": 20.0,
}


def main(problems: list[str]) -> int:
    results: dict[str, object] = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "cores": len(os.sched_getaffinity(0)),
        "cpu": platform.machine(),
        "versions": installed_versions(),
        "promises": PROMISES,
        "command line": measure_command_line(),
        "problems": {problem: measure_problem(problem) for problem in problems},
    }
    broken = find_broken(results)
    results["broken promises"] = broken
    (ROOT / "bench" / "last.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))
    return 1 if broken else 0


def measure_command_line() -> dict[str, float]:
    timed(["--help"], ROOT)
    helps = [timed(["--help"], ROOT) for _ in range(5)]
    errors = [timed(["submit", "no_such_problem"], ROOT) for _ in range(5)]
    return {"help_s": sorted(helps)[2], "usage_error_s": sorted(errors)[2]}


def measure_problem(problem: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("problems", "submissions"):
            shutil.copytree(ROOT / name, Path(folder) / name)
        shutil.copy(ROOT / "shapes.yaml", folder)
        cold_s, cold = submit(problem, Path(folder))
        again_s, again = submit(problem, Path(folder))
    tests_s = sum(case["seconds"] or 0 for case in again["cases"] if case["role"] == "test")
    command = [sys.executable, "-m", "bench.one_process", problem, TARGET]
    plain = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    one_process_s = float(plain.stdout.split()[-1])
    return {
        "submit_cold_s": cold_s,
        "submit_again_s": again_s,
        "check_tests_s": round(tests_s, 2),
        "build_cpu_s": cold["build"]["cpu_s"],
        "one_process_cpu_s": one_process_s,
        "build_over_one_process": round(cold["build"]["cpu_s"] / one_process_s, 2),
    }


def submit(problem: str, folder: Path) -> tuple[float, dict]:
    started = time.monotonic()
    command = [HARNESS, "submit", problem, "--target", TARGET, "--json"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    elapsed_s = round(time.monotonic() - started, 2)
    record = json.loads(result.stdout)
    if record["verdict"]["kind"] != "CHECKED":
        raise SystemExit(f"{problem}: {record['verdict']['kind']}: {record['verdict']['message']}")
    return elapsed_s, record


def timed(arguments: list[str], folder: Path) -> float:
    started = time.monotonic()
    subprocess.run([HARNESS, *arguments], cwd=folder, capture_output=True)
    return round(time.monotonic() - started, 3)


def find_broken(results: dict) -> list[str]:
    figures = {f"{name}": value for name, value in results["command line"].items()}
    broken = [f"{name}: {value}" for name, value in figures.items() if value > PROMISES[name]]
    for problem, measured in results["problems"].items():
        # The promises of time are about chunk_fwd_h; the others are reported.
        names = PROMISES if problem == "chunk_fwd_h" else ["check_tests_s", "build_over_one_process"]
        broken += [f"{problem} {n}: {measured[n]}" for n in names if n in measured and measured[n] > PROMISES[n]]
    return broken


if __name__ == "__main__":
    every = sorted(path.parent.name for path in (ROOT / "problems").glob("*/task.yml"))
    sys.exit(main(sys.argv[1:] or every))
