"""Measures the replay on a GPU machine: times, spread between fresh processes, GPU time a submission.

usage: python bench/gpu/measure.py FOLDER OUT.json NAME[:REPEATS][:benchmarks] ...

FOLDER is what `export.py` (or `tests.replay_gpu.building`) made. Each repeat is a fresh node with a fresh runner.
Standard library, and the node's own statistics.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def replay(folder: Path, name: str, only_benchmarks: bool) -> dict[str, Any]:
    request = json.loads((folder / name / "request.json").read_text())
    if only_benchmarks:
        request["cases"] = [case for case in request["cases"] if case["timed"]]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(request, file)
        file.flush()
        parts = [str(folder / name / part) for part in ("artifact", "problem")]
        started = time.monotonic()
        command = [sys.executable, str(folder / "node.pyz"), "replay", *parts, file.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        wall_s = time.monotonic() - started
    events = [json.loads(line) for line in done.stdout.splitlines()]
    reports = [event["report"] for event in events if event["event"] == "report"]
    if not reports:
        return {"error": (events or [{}])[-1].get("message", done.stderr[-500:])}
    return {**reports[0], "wall_s": round(wall_s, 2)}


def summarise_runs(runs: list[dict[str, Any]], summarise: Any) -> dict[str, Any]:
    cases: dict[str, Any] = {}
    for index, case in enumerate(runs[0]["cases"]):
        mine = [run["cases"][index] for run in runs]
        cases[case["id"]] = {
            "status": sorted({c["status"] for c in mine}),
            "reason": case["reason"],
            "calls": case["calls"],
        }
        sampled = [c["samples"] for c in mine if c["samples"] and c["samples"]["spans_us"]]
        if sampled:
            timings = [summarise(s["spans_us"], s["witness_us"], s["nodes"]) for s in sampled]
            medians = [t.median_us for t in timings]
            middle = statistics.median(medians)
            cases[case["id"]] |= {
                "median_us": round(middle, 3),
                "medians_us": [round(m, 3) for m in medians],
                "spread_percent": round(100 * (max(medians) - min(medians)) / middle, 2),
                "intervals_with_the_median": sum(t.low_us <= middle <= t.high_us for t in timings),
                "witness_over_us": round(statistics.median(t.witness_us - t.median_us for t in timings), 2),
                "samples": [t.samples for t in timings],
                "faults": sorted({t.fault for t in timings} - {""}),
                "nodes": sampled[0]["nodes"],
            }
    machine = runs[0]["machine"]
    times = {name: [run["machine"][name] for run in runs] for name in ("start_s", "replay_s")}
    return {
        "cases": cases,
        "wall_s": [r["wall_s"] for r in runs],
        **times,
        "machine": machine,
        "clocks": runs[0]["clocks"],
    }


def main() -> None:
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    sys.path.insert(0, str(folder / "node.pyz"))
    from harness.replay.timing import summarise

    results: dict[str, Any] = {}
    for argument in sys.argv[3:]:
        name, *options = argument.split(":")
        repeats = next((int(option) for option in options if option.isdigit()), 1)
        runs = [replay(folder, name, "benchmarks" in options) for _ in range(repeats)]
        good = [run for run in runs if "error" not in run]
        label = name + (" (benchmarks)" if "benchmarks" in options else "")
        results[label] = summarise_runs(good, summarise) if good else runs[0]
        results[label]["failed_runs"] = len(runs) - len(good)
        out.write_text(json.dumps(results, indent=1))
        for case_id, case in results[label].get("cases", {}).items():
            if "median_us" in case:
                told = f"{case['median_us']} us, spread {case['spread_percent']}%, {case['intervals_with_the_median']}"
                print(
                    name, case_id, case["status"], told, f"of {repeats} intervals, witness +{case['witness_over_us']}"
                )
        bad = [i for i, c in results[label].get("cases", {}).items() if c["status"] != ["passed"]]
        print(
            name,
            "not passed:",
            bad,
            results[label].get("error", ""),
            results[label].get("start_s"),
            results[label].get("replay_s"),
        )


if __name__ == "__main__":
    main()
