"""Put what a GPU machine needs into one folder: the node's file, artifacts, problem documents, requests.

usage: python bench/gpu/export.py OUT [PROBLEM ...]   (builds the starters for h200)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bench.gpu.run_all import EVERY
from harness.case import load_cases
from harness.replay.node.node_report import CaseRequest, NodeRequest, encode_request
from harness.replay.node.pack import build_node
from harness.replay.node.problem_document import write_problem_document
from harness.spec import load_problem

ROOT = Path(__file__).parents[2]


def export(
    problem_folder: Path,
    artifact: Path,
    out: Path,
    timeout_s: float = 60,
    samples: int = 0,
    roles: tuple[str, ...] = ("test", "benchmark"),
) -> None:
    problem = load_problem(problem_folder)
    built = {path.stem for path in (artifact / "plans").glob("*.json")}
    cases = [case for case in load_cases(problem) if case.shape_id in built and case.role in roles]
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(artifact, out / "artifact")
    write_problem_document(problem, [case.sizes for case in cases], out / "problem")
    requests = [
        CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, c.role == "benchmark", timeout_s, samples) for c in cases
    ]
    for name, chosen in (("request", requests), ("benchmarks", [request for request in requests if request.timed])):
        (out / f"{name}.json").write_text(json.dumps(encode_request(NodeRequest(tuple(chosen)))))


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    build_node(out / "node.pyz")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)) // 2 or 1) as pool:
        list(pool.map(partial(build_and_export, out), sys.argv[2:] or EVERY))


def build_and_export(out: Path, name: str) -> None:
    command = [sys.executable, "-m", "harness", "build", name, "--target", "h200", "--json"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    export(ROOT / "problems" / name, Path(json.loads(built.stdout)["artifact"]), out / name)
    shutil.copy(ROOT / "submissions" / "starter" / name / "submission.py", out / name)


if __name__ == "__main__":
    main()
