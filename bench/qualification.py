"""`python -m bench.qualification [--only seeds|qualify|reduced] [PROBLEM ...]`: what qualification promises, measured.

For each problem: honest variants over 200 seeds of every test, of which none may be refused; and the whole of `harness
qualify`, which may take five minutes. For all together: the reduced form that `make test` has, which may take three.
Results go to stdout and bench/qualification.json; what was measured of other problems stays. Qualification does one
thing after the other, so on a machine with nothing else to do it takes no longer than its CPU time; where the machine
is busy, that is what the promise is held against.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

from harness.qualify.asked import ask_suite
from harness.qualify.conditions import Qualification
from harness.qualify.margins import measure_margins
from harness.qualify.process import qualify
from harness.spec import find_problem, load_season

ROOT = Path(__file__).parents[1]
HARNESS = ROOT / ".venv" / "bin" / "harness"
OUT = ROOT / "bench" / "qualification.json"
SEEDS = 200
PROMISE_S, REDUCED_PROMISE_S = 300.0, 180.0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("problems", nargs="*", default=list(load_season(ROOT).problems))
    parser.add_argument("--only", choices=("seeds", "qualify", "reduced"))
    asked = parser.parse_args(arguments)
    measures = {"seeds": measure_seeds, "qualify": measure_qualify}
    kept = True
    for problem in asked.problems if asked.only != "reduced" else ():
        found = {name: measure(problem) for name, measure in measures.items() if asked.only in (None, name)}
        kept &= all(part["kept"] for part in found.values())
        file(problem, found)
    if asked.only in (None, "reduced"):
        reduced = measure_reduced()
        kept &= bool(reduced["kept"])
        file("reduced", reduced)
    return 0 if kept else 1


def file(name: str, found: dict[str, object]) -> None:
    """Put what was measured in the place of what was, and print it."""
    results = json.loads(OUT.read_text()) if OUT.exists() else {}
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    results[name] = results.get(name, {}) | {"date": today} | found
    OUT.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps({name: results[name]}, indent=1), flush=True)


def measure_seeds(name: str) -> dict[str, object]:
    """Honest variants over many seeds of every test of the ranked suite."""
    problem = find_problem(ROOT, name)
    started = time.monotonic()
    result = qualify(problem, [ask_suite(problem, "default", roles=("test",))], SEEDS, lambda step, done, total: None)
    counted = count(result)
    return {**counted, "wall_s": round(time.monotonic() - started, 1), "kept": counted["refused"] == 0}


def count(result: Qualification) -> dict[str, object]:
    suite = result.suites[0].measured
    honest = [c.name for c in result.measured.candidates if c.expected == "accept"]
    trials = [trial for trial in suite.trials if trial.candidate in honest]
    return {
        "seeds": result.measured.seeds,
        "variants": honest,
        "calls": sum(trial.seeds for trial in trials),
        "refused": sum(trial.refused for trial in trials),
        "margins": {margin.output: margin.written() for margin in measure_margins(suite, result.measured)},
    }


def measure_qualify(name: str) -> dict[str, object]:
    """The whole verb, in a process of its own."""
    done, cost = run([HARNESS, "qualify", name, "--json"], PROMISE_S)
    document = json.loads(done.stdout)
    return {
        "exit_code": done.returncode,
        "mutants": sum(candidate["mutant"] for candidate in document["candidates"]),
        "mutants_accepted": {
            suite["suite"]: sum(fault["condition"] == "mutant" for fault in suite["faults"])
            for suite in document["suites"]
        },
        "kernels": {trial["kernel"]: trial["verdict"] for trial in document["kernels"]},
        **cost,
    }


def measure_reduced() -> dict[str, object]:
    """What `make test` has of it: all problems, on their tests alone."""
    command = ["-m", "pytest", "-q", "-m", "not gpu and not slow", "tests/qualify/test_problems.py"]
    done, cost = run([sys.executable, *command], REDUCED_PROMISE_S)
    return {"command": " ".join(command), "exit_code": done.returncode, **cost}


def run(command: list[str | Path], promise_s: float) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    """Run a command in the repository; return what came of it, what it cost, and whether the promise is kept."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    wall_s = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s, load = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, os.getloadavg()[1]
    cores = len(os.sched_getaffinity(0))
    took_s = min(wall_s, cpu_s) if load > cores else wall_s
    cost = {"wall_s": round(wall_s, 1), "cpu_s": round(cpu_s, 1), "cores": cores, "load": round(load, 1)}
    return done, {**cost, "kept": done.returncode == 0 and took_s <= promise_s}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
