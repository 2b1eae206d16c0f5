"""`python -m bench.qualification [PROBLEM ...]`: what the issue promises of qualification, measured.

For each problem: the whole of `harness qualify`, timed; and honest variants over 200 seeds of every test, of which none
may be refused. Results go to stdout and bench/qualification.json; what was measured of other problems stays.
"""

from __future__ import annotations

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
PROMISE_S = 300.0


def main(problems: list[str]) -> int:
    results = json.loads(OUT.read_text()) if OUT.exists() else {}
    kept = True
    for problem in problems or load_season(ROOT).problems:
        found = {"seeds": measure_seeds(problem), "qualify": measure_qualify(problem)}
        kept &= found["seeds"]["refused"] == 0 and found["qualify"]["exit_code"] == 0
        results[problem] = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), **found}
        OUT.write_text(json.dumps(results, indent=1) + "\n")
        print(json.dumps({problem: results[problem]}, indent=1), flush=True)
    return 0 if kept else 1


def measure_seeds(name: str) -> dict[str, object]:
    """Honest variants over many seeds of every test of the ranked suite."""
    problem = find_problem(ROOT, name)
    started = time.monotonic()
    result = qualify(problem, [ask_suite(problem, "default", roles=("test",))], SEEDS, lambda step, done, total: None)
    return {**count(result), "wall_s": round(time.monotonic() - started, 1)}


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
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([HARNESS, "qualify", name, "--json"], cwd=ROOT, capture_output=True, text=True)
    wall_s = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    document = json.loads(done.stdout)
    return {
        "exit_code": done.returncode,
        "mutants": sum(candidate["mutant"] for candidate in document["candidates"]),
        "mutants_accepted": {
            suite["suite"]: sum(fault["condition"] == "mutant" for fault in suite["faults"])
            for suite in document["suites"]
        },
        "kernels": {trial["kernel"]: trial["verdict"] for trial in document["kernels"]},
        "wall_s": round(wall_s, 1),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[1], 1),
        "within_promise": wall_s <= PROMISE_S,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
