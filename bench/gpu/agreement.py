"""Do CPU and GPU replay agree? Kernels of every problem, honest and wrong, checked on a CPU here and on a GPU there.

usage: python -m bench.gpu.agreement prepare FOLDER      (no GPU: builds, checks on the CPU, exports)
       python -m bench.gpu.agreement compare FOLDER RESULTS

The kernels: each problem's starter, what its kernels.yml makes of it, and the starter with other numbers of warps.
Cases whose error lies within `MARGIN` of the tolerance, where it is refused, may differ. Each side draws its own
inputs, and a wrong kernel may be right for some of a distribution: a case may differ, too, for which the CPU itself
comes to either verdict. No other may.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from bench.gpu.export import ROOT, export
from harness.case import load_cases
from harness.engine.build import Built, run_build
from harness.engine.checking import run_check
from harness.engine.progress import ignore
from harness.engine.request import BuildRequest
from harness.engine.workspace import Workspace
from harness.replay.judgement import Judgement, parse_judgement
from harness.sandbox import best_level
from harness.spec import Problem, load_problem, load_season
from harness.submission import MAIN, find_submission
from harness.target import load_target
from harness.toolchain import check_toolchain

MARGIN = 0.2  # of the tolerance: an error between 0.8 and 1.2 of it may be told either way
DRAWS = 20  # of a case that differs, on the CPU
PREFIX = "agree-"
TARGET = "h200"
FILE = "kernels.yml"


def sources(problem: str, starter: str) -> dict[str, str]:
    """Return the kernels of a problem: submission.py by name."""
    found = {"starter": starter, "warps": starter.replace("num_warps=4", "num_warps=8")}
    path = ROOT / "problems" / problem / FILE
    kernels = yaml.safe_load(path.read_text())["kernels"] if path.is_file() else {}
    for name, changes in kernels.items():
        text = starter
        for change in changes:
            assert text.count(change["replace"]) == 1, (problem, name, change)
            text = text.replace(change["replace"], change["by"])
        found[name] = text
    return {name: text for name, text in found.items() if name == "starter" or text != starter}


def prepare(out: Path) -> None:
    """Build, check and export every kernel that has not been."""
    season, workspace = load_season(ROOT), Workspace(ROOT)
    level, toolchain = best_level().level, check_toolchain()
    for name in season.problems:
        problem = load_problem(ROOT / "problems" / name)
        cases = tuple(case for case in load_cases(problem) if case.role == "test")
        starter = find_submission(ROOT, "starter", name, problem.aliases)
        for kernel, text in sources(name, starter.source).items():
            folder = out / f"{PREFIX}{name}-{kernel}"
            if (folder / "cpu.json").is_file():
                continue
            files = dict(starter.files) | {MAIN: text.encode()}
            submission = replace(starter, team="bench", files=tuple(sorted(files.items())))
            request = BuildRequest(
                submission, problem, season, load_target(TARGET), season.divisions[0], cases, False, level, toolchain
            )
            built = run_build(request, workspace, ignore)
            if not isinstance(built, Built):
                print(f"{name} {kernel}: does not build: {built.reason}", flush=True)
                continue
            artifact = workspace.artifacts / built.artifact.manifest.key
            results = run_check(artifact, problem, cases, season, level, True, ignore)  # a failure ends both sides
            export(problem.folder, artifact, folder, roles=("test",))
            told = {
                r.case.id: {"status": r.status, "reason": r.reason, "worst": worst_of(problem, r.judgement)}
                for r in results
            }
            (folder / "cpu.json").write_text(json.dumps(told, indent=1))
            print(f"{name} {kernel}: {[r.status for r in results].count('passed')} of {len(results)} pass", flush=True)


def worst_of(problem: Problem, judgement: Judgement | None) -> float | None:
    """Return the largest error over what is allowed, elementwise or in the L2 norm; None if nothing was compared."""
    if judgement is None or not judgement.outputs:
        return None
    caps = [problem.tolerance_of(output.name).relative_l2 for output in judgement.outputs]
    pairs = zip(judgement.outputs, caps, strict=True)
    return max(max(output.worst_over_tolerance, (output.relative_l2 or 0) / (cap or math.inf)) for output, cap in pairs)


def compare(folder: Path, results: Path) -> dict[str, Any]:
    """Compare case by case; return counts and every disagreement beyond the margin."""
    kernels, compared, near = 0, 0, 0
    by_the_draw, differing = [], []
    for path in sorted(folder.glob(f"{PREFIX}*/cpu.json")):
        name = path.parent.name
        answer = results / f"{name}.json"
        if not answer.is_file():
            continue
        kernels += 1
        problem = load_problem(ROOT / "problems" / name.removeprefix(PREFIX).rsplit("-", 1)[0])
        on_gpu = {case["id"]: case for case in json.loads(answer.read_text()).get("cases", [])}
        for case_id, cpu in json.loads(path.read_text()).items():
            gpu = on_gpu.get(case_id)
            if gpu is None or cpu["status"] == "not_run" or gpu["status"] == "not_run":
                continue
            compared += 1
            if (cpu["status"] == "passed") == (gpu["status"] == "passed"):
                continue
            judged = parse_judgement(gpu["judgement"]) if gpu["judgement"] else None
            error = worst_of(problem, judged)
            refused = error if cpu["status"] == "passed" else cpu["worst"]  # each side drew its own inputs
            if refused is not None and refused <= 1 + MARGIN:
                near += 1
                continue
            found = {"kernel": name, "case": case_id, "cpu": cpu, "gpu": [gpu["status"], gpu["reason"], error]}
            draws = draw_again(path.parent / "artifact", problem, case_id, passes=gpu["status"] == "passed")
            (by_the_draw if draws else differing).append(found | {"draws until the CPU says the same": draws})
    counts = {"kernels": kernels, "cases": compared, "within the margin": near}
    return {**counts, "by the draw": by_the_draw, "differing": differing}


def draw_again(artifact: Path, problem: Problem, case_id: str, *, passes: bool) -> int:
    """Return how many draws of a case's inputs it takes until the CPU comes to a verdict, 0 if none of `DRAWS` does."""
    case = next(case for case in load_cases(problem) if case.id == case_id)
    season, level = load_season(ROOT), best_level().level
    for number in range(1, DRAWS + 1):
        (result,) = run_check(artifact, problem, (case,), season, level, True, ignore)
        if (result.status == "passed") == passes:
            return number
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(Path(sys.argv[2]))
    else:
        print(json.dumps(compare(Path(sys.argv[2]), Path(sys.argv[3])), indent=1))
