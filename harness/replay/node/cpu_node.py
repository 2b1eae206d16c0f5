"""The node's program for machines without a GPU: `node.pyz replay ARTIFACT PROBLEM REQUEST`, on Triton's interpreter.

The same request and the same form of report as on a GPU, without times: a node with many cores checks faster than a
laptop. It needs torch, numpy, Triton and safetensors. This process is the judge; how one case is checked, by a runner
in a sandbox, is `replay.cpu_check`'s, and which are not worth a try, `replay.patience`'s.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.replay.cpu_check import Asked, Checked
from harness.replay.cpu_runner import CpuRunner
from harness.replay.node.node_report import (
    CaseReport,
    CaseRequest,
    NodeReport,
    NodeRequest,
    encode_report,
    parse_request,
)
from harness.replay.node.problem_document import ProblemDocument, load_problem_document
from harness.replay.patience import Patience
from harness.sandbox import Level, Mount, find_missing, remove_tree

USAGE = "usage: node.pyz replay ARTIFACT_DIR PROBLEM_DIR REQUEST.json"
WALL_S = 3600.0
Facts = dict[str, "str | int | float"]
_PACKAGES = ("torch", "numpy", "triton", "safetensors")


@contextmanager
def _runner(artifact: Path, level: Level) -> Iterator[CpuRunner]:
    """Start this very file again, in a sandbox, as the runner."""
    program, scratch = Path(sys.argv[0]).resolve(), Path(tempfile.mkdtemp(prefix="harness-runner-"))
    command, mounts = (sys.executable, str(program), "runner"), (Mount(program, str(program)),)
    try:
        with CpuRunner(command, artifact, scratch, level, wall_s=WALL_S, mounts=mounts) as runner:
            yield runner
    finally:
        remove_tree(scratch)


def check(request: NodeRequest, artifact: Path, document: ProblemDocument, tell: Any) -> tuple[list[CaseReport], Level]:
    """Check the cases of a request; after a failure the rest is not run, nor what would hardly be finished."""
    from harness.replay.local_judge import LocalJudge

    level = next(level for level in Level if find_missing(level) is None)
    reports: list[CaseReport] = []
    judge, patience = LocalJudge(document), Patience()
    with _runner(artifact, level) as runner:
        for position, case in enumerate(request.cases):
            asked = Asked(case.shape_id, case.shape, case.distribution, case.timed, case.timeout_s)
            reports.append(_report(case, patience.check(runner, judge, asked, position)))
            tell({"event": "done", "id": case.id, "status": reports[-1].status})
            if reports[-1].status == "failed":
                break
    return reports + [CaseReport(case.id, "not_run", "after_failure") for case in request.cases[len(reports) :]], level


def _report(case: CaseRequest, checked: Checked) -> CaseReport:
    passed = checked.status == "passed"
    told = f"{checked.programs_run} of {checked.programs_total} programs checked" if passed and case.timed else ""
    return CaseReport(
        case.id,
        checked.status,
        checked.reason,
        told or checked.message,
        judgement=checked.judgement,
        seeds=(checked.seed,),
        calls=int(passed),
        seconds=checked.seconds,
    )


def _replay(artifact: Path, problem: Path, request_file: Path, tell: Any) -> int:
    from importlib.util import find_spec

    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        told = f"{missing[0]} is not installed here: a check on CPUs needs it"
        tell({"event": "error", "kind": "lacks", "message": told})
        return 3
    request = parse_request(json.loads(request_file.read_text(encoding="utf-8")))
    cases, level = check(request, artifact, load_problem_document(problem), tell)
    facts: Facts = {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version(), "sandbox": str(level)}
    tell({"event": "report", "report": encode_report(NodeReport(tuple(cases), {**facts, "score_clock": "none"}, {}))})
    return 0


def main(arguments: list[str]) -> int:
    """Run one command; return its exit code."""
    if arguments[:1] == ["runner"]:
        from harness.replay.cpu.__main__ import main as run

        sys.argv = arguments
        run()
        return 0
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: dict[str, Any]) -> None:
        out.write(json.dumps(event, allow_nan=False) + "\n")
        out.flush()

    if arguments[:1] != ["replay"] or len(arguments) != 4:
        tell({"event": "error", "message": USAGE})
        return 2
    try:
        return _replay(Path(arguments[1]), Path(arguments[2]), Path(arguments[3]), tell)
    except HarnessError as error:
        tell({"event": "error", "message": str(error)[:2000]})
        return 3
    except Exception as error:
        traceback.print_exc()
        tell({"event": "error", "message": f"{type(error).__name__}: {error}"[:2000]})
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
