"""The qualifying process: loads a problem's Python, tries and measures, and reports.

usage: python -m harness.qualify PROBLEM_DIR SEEDS SUITE...

It imports the organiser's reference.py and mutants.py, which is why it is a process of its own: what they print goes to
stderr. One JSON object a line on a private copy of stdout: {"step": ..., "total": n} while it works, n steps in all,
then {"measurements": ...} or {"error": {"kind": "spec" or "internal", "message": ...}}.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

from harness.errors import HarnessError, UsageError
from harness.qualify.candidates import load_roster
from harness.qualify.measurements import Measurements
from harness.qualify.trials import MUTANT_SEEDS, Workbench, count_steps, measure_suite
from harness.replay.reference import load_reference
from harness.spec import load_problem
from harness.store.codec import encode


def main(arguments: list[str]) -> int:
    """Qualify the problem of a folder; every error becomes a message."""
    folder, seeds, *suites = arguments
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message, allow_nan=False) + "\n")

    def tell(step: str) -> None:
        send({"step": step, "total": total})

    torch.set_num_threads(1)  # most tensors are small, and other threads would only wait
    try:
        problem = load_problem(Path(folder))
        total = sum(count_steps(problem, suite) for suite in suites)
        bench = Workbench.make(load_roster(problem), load_reference(problem), int(seeds), tell)
        found = tuple(measure_suite(bench, suite) for suite in suites)
        candidates = bench.roster.candidates
        measured = Measurements(
            problem.name, problem.version, problem.precision, int(seeds), MUTANT_SEEDS, candidates, found
        )
        send({"measurements": encode(measured)})
    except UsageError as error:
        send({"error": {"kind": "spec", "message": str(error)}})
    except Exception as error:
        traceback.print_exception(error)
        text = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
        send({"error": {"kind": "internal", "message": text}})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
