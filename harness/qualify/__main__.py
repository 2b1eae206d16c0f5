"""The qualifying process: loads a problem's Python, tries and measures, and reports.

usage: python -m harness.qualify PROBLEM_DIR SEEDS SUITES        (as `asked.encode_suites` writes them)

It imports the organiser's reference.py and mutants.py, which is why it is a process of its own: what they print goes to
stderr. One JSON object a line on a private copy of stdout: {"step": ..., "total": n} while it works, n steps in all,
then {"measurements": ...} or {"error": {"kind": "spec" or "internal", "message": ...}}.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness.qualify.asked import SuiteRequest, decode_suites
from harness.qualify.candidates import load_roster
from harness.qualify.reporting import Send, report
from harness.qualify.trials import Workbench, count_steps, measure
from harness.replay.reference import load_reference
from harness.spec import load_problem
from harness.store.codec import encode


def main(arguments: list[str]) -> int:
    """Qualify the problem of a folder; every error becomes a message."""
    folder, seeds, suites = arguments
    return report(lambda send: _measure(Path(folder), int(seeds), decode_suites(suites), send))


def _measure(folder: Path, seeds: int, suites: tuple[SuiteRequest, ...], send: Send) -> dict[str, Any]:
    problem = load_problem(folder)
    total = sum(count_steps(suite) for suite in suites)
    roster = load_roster(problem)

    def tell(step: str) -> None:
        send({"step": step, "total": total})

    bench = Workbench.make(roster, load_reference(problem), seeds, tell)
    return {"measurements": encode(measure(bench, suites))}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
