"""From what `run_all.py` left to figures, records and baselines. No GPU is needed.

usage: python -m bench.gpu.conclude FOLDER OUT

Writes bench/gpu/last.json (figures, and which promises they keep), records/h200/*.json (a record of each starter, made
by the main job with the GPU machine's own words, of when it measured) and baselines/*.json.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench.gpu import agreement
from bench.gpu.export import ROOT
from bench.gpu.measured import date_baselines, date_record, moment_of
from bench.gpu.run_all import EVERY, LONG, PROCESSES, SPREAD, STARTERS
from harness.artifact import load_artifact
from harness.board.ranking import tie_groups
from harness.case import load_cases
from harness.engine.baselines import measure_baselines, save_baselines
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.progress import ignore
from harness.engine.request import BuildRequest
from harness.engine.submit import run_submit
from harness.engine.workspace import Workspace
from harness.replay.timing import geometric_mean, mean_of_faster, summarise
from harness.sandbox import best_level
from harness.spec import load_problem, load_season
from harness.store import open_store, save_records
from harness.submission import find_submission
from harness.target import load_target
from harness.toolchain import check_toolchain
from tests.adversarial.catalogue import load_catalogue
from tests.replay_gpu.test_gpu import DIFFERS, EXPECTED, GAIN, KEEPERS, times_of

TARGET = "h200"


def load(out: Path, name: str) -> dict[str, Any]:
    path = out / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def conclude_spread(out: Path, step: str, names: Sequence[str]) -> dict[str, Any]:
    """Spread of the times of fresh processes, whether intervals hold, and places of two names over twenty runs."""
    found: dict[str, Any] = {}
    for name in names:
        runs = [load(out, f"{step}/{name}-{number}") for number in range(PROCESSES)]
        good = [run for run in runs if run.get("cases") and all(c["samples"] for c in run["cases"])]
        if len(good) < 2:
            continue
        cases = {}
        for index, case in enumerate(good[0]["cases"]):
            samples = [run["cases"][index]["samples"] for run in good]
            timings = [summarise(s["spans_us"], s["witness_us"], s["nodes"]) for s in samples]
            times = [timing.time_us for timing in timings]
            middle = median(times)
            cases[case["id"]] = {
                "time_us": round(middle, 3),
                "times_us": [round(value, 3) for value in times],
                "samples": [timing.samples for timing in timings],
                "spread_percent": round(100 * (max(times) - min(times)) / middle, 2),
                "promised_percent": None if middle < 5 else 1.0 if middle < 20 else 0.5,
                "intervals_that_hold_it": sum(t.low_us <= middle <= t.high_us for t in timings),
                "faults": sorted({t.fault for t in timings} - {""}),
            }
        scores = [geometric_mean(values) for values in zip(*(c["times_us"] for c in cases.values()), strict=True)]
        pairs = list(itertools.islice(itertools.combinations(scores, 2), 20))
        noise = load_target(TARGET).noise or 0.0
        apart = sum(tie_groups(sorted(pair), noise) != [1, 1] for pair in pairs)
        found[name] = {"processes": len(good), "cases": cases, "pairs": len(pairs), "pairs of other rank": apart}
    return found


def conclude_starters(out: Path) -> dict[str, Any]:
    found = {}
    for name in EVERY:
        run = load(out, f"starters/{name}")
        cases = run.get("cases", [])
        machine = run.get("machine", {})
        found[name] = {
            "passed": sum(case["status"] == "passed" for case in cases),
            "cases": len(cases),
            "differing bits": sum(case["differing_bits"] for case in cases),
            "times_us": [time for case in cases if (time := time_of(case)) is not None],
            "whole_s": run.get("wall_s"),
            "held_new_s": round(machine.get("start_s", 0) + machine.get("replay_s", 0), 3),
            "held_warm_s": machine.get("replay_s"),
            "sandbox": machine.get("sandbox"),
            "pinned": machine.get("pinned"),
            "why_lower": machine.get("why_lower", ""),
        }
    return found


def time_of(case: dict[str, Any]) -> float | None:
    """Return a case's time in microseconds, None if it was not timed."""
    samples = case["samples"]
    return round(mean_of_faster(samples["spans_us"]), 3) if samples and samples["spans_us"] else None


def conclude_attacks(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    honest = load(out, "attacks/attack-honest").get("cases", [])
    for name, (status, reasons) in EXPECTED.items():
        cases = load(out, f"attacks/attack-{name}").get("cases", [])
        if cases:
            first = next((case for case in cases if case["status"] != "passed"), cases[-1])
            good = first["status"] == status and first["reason"] in reasons
            good &= status != "passed" or all(bool(case["differing_bits"]) == (name in DIFFERS) for case in cases)
            if name in KEEPERS:
                good &= all(
                    kept.time_us > GAIN * t.time_us for kept, t in zip(times_of(cases), times_of(honest), strict=True)
                )
            if name == "noisy":
                good &= "mean_gap" in {timing.fault for timing in times_of(cases)}
            times_us = [round(timing.time_us, 3) for timing in times_of(cases)]
            found[name] = {"got": [first["status"], first["reason"]], "times_us": times_us, "as expected": good}
    return found


def conclude_lookalikes(out: Path) -> dict[str, Any]:
    """What the honest look-alikes of `tests/adversarial` came to; a few must fail on a GPU."""
    found = {}
    for attack in load_catalogue():
        cases = load(out, f"lookalikes/look-{attack.name}").get("cases", []) if attack.kind == "CHECKED" else []
        if cases:
            reasons = sorted({case["reason"] for case in cases if case["status"] not in ("passed", "not_run")})
            good = not reasons if attack.gpu == "PASSED" else reasons == ["wrong_values"]
            found[attack.name] = {"expected": attack.gpu, "reasons": reasons, "as expected": good}
    return found


def conclude_in_process(out: Path) -> dict[str, Any]:
    """Replay's time over the time of the same kernel as Helion runs it, case by case."""
    found = {}
    for name in STARTERS:
        inside, replayed = load(out, f"in_process/{name}"), load(out, f"in_process/{name}-replay").get("cases", [])
        for case in replayed:
            if (replay_us := time_of(case)) is not None and case["id"] in inside:
                times = {kind: fmean(times_us) for kind, times_us in inside[case["id"]].items()}
                found[f"{name} {case['id']}"] = {
                    "replay_us": replay_us,
                    "in_process_us": {kind: round(time_us, 3) for kind, time_us in times.items()},
                    "ratio": {kind: round(replay_us / time_us, 4) for kind, time_us in times.items()},
                }
    return found


def make_records(folder: Path, out: Path) -> list[str]:
    """Run the main job for each starter, with what the GPU machine said in the place of its node."""
    season, level, made = load_season(ROOT), best_level().level, []
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(Path(scratch) / "records.sqlite")
        for name in EVERY:
            run, file = load(out, f"starters/{name}"), out / f"starters/{name}.json"
            if not run.get("cases"):
                continue
            problem = load_problem(ROOT / "problems" / name)
            request = BuildRequest(
                find_submission(ROOT, "starter", name, problem.aliases), problem, season, load_target(TARGET),
                season.divisions[0], load_cases(problem), False, level, check_toolchain(),
            )  # fmt: skip
            node = repeat(run["events"], Path(scratch) / f"{name}.py")
            make_baselines(
                out, name, request, replayed_folder=folder / name / "artifact", node=node, scratch=Path(scratch)
            )  # before the record, which says how many times faster it is
            record = run_submit(request, Workspace(ROOT), store, ignore, full=False, node=node).record
            replayed = load_artifact(folder / name / "artifact").manifest.key
            if record.artifact_key != replayed:
                print(f"{name}: the replayed artifact is not what builds now: no record")
                continue
            made.append(date_record(record, run, moment_of(run, file)))
        store.close()
    return [str(path.relative_to(ROOT)) for path in save_records(made, ROOT / "records" / TARGET)]


def make_baselines(
    out: Path, name: str, request: BuildRequest, *, replayed_folder: Path, node: list[str], scratch: Path
) -> None:
    answer, file = load(out, f"baselines/{name}"), out / f"baselines/{name}.json"
    events = answer.get("events")
    artifact = load_artifact(replayed_folder)
    judged = replay_on_gpu(node, artifact, request.problem, request.cases, request.target, 60, ignore)
    if events:
        said = repeat(events, scratch / f"baseline-{name}.py")
        found = measure_baselines(said, request.problem, request.cases, request.target, judged.replay, ignore)
        save_baselines(date_baselines(found, moment_of(answer, file)), ROOT)


def repeat(events: list[dict[str, Any]], script: Path) -> list[str]:
    """Return the command of a node that says again what one said."""
    lines = "".join(json.dumps(event) + "\n" for event in events)
    script.write_text(f"print({lines!r}, end='')\n")
    return [sys.executable, str(script)]


def main() -> None:
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    found = {
        "environment": load(out, "environment").get("events"),
        "starters": conclude_starters(out),
        "attacks": conclude_attacks(out),
        "agreement": agreement.compare(folder, out / "agreement"),
        "spread": conclude_spread(out, "spread", SPREAD),
        "one after another": conclude_spread(out, "alone", LONG),
        "rates": load(out, "rates").get("events", [])[-1:],
        "lookalikes": conclude_lookalikes(out),
        "in process": conclude_in_process(out),
        "records": make_records(folder, out),
    }
    text = json.dumps(found, indent=1)
    (ROOT / "bench" / "gpu" / "last.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
