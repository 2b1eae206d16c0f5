"""The node's program for machines without a GPU: `node.pyz replay ARTIFACT PROBLEM REQUEST`, on Triton's interpreter.

The same request and the same form of report as on a GPU, without times: a node with many cores checks faster than a
laptop. It needs torch, numpy, Triton and safetensors. This process is the judge; the runner (`replay.cpu`) executes the
artifact's kernels in a sandbox and returns raw tensors, which are hostile (`replay.received`).
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from harness.errors import HarnessError
from harness.replay.node.node_report import (
    CaseReport,
    CaseRequest,
    NodeReport,
    NodeRequest,
    encode_report,
    parse_request,
)
from harness.replay.node.problem_document import ProblemDocument, load_problem_document
from harness.sandbox import (
    Job,
    Level,
    Limits,
    Mount,
    find_missing,
    python_mounts,
    remove_tree,
    start,
    visible,
    visible_scratch,
)

SAMPLED_PROGRAMS = 8
CASE_S = 120.0
WALL_S = 3600.0
_GIB = 1 << 30
_LIMITS = Limits(WALL_S, None, 8 * _GIB, 8192, 2 * _GIB, 4 * _GIB, 8 << 20)
Facts = dict[str, "str | int | float"]
_PACKAGES = ("torch", "numpy", "triton", "safetensors")
_FAILED = ("out_of_bounds", "fault")


@dataclass
class _Interpreter:
    """The runner's process, and where it takes requests and files."""

    job: Job
    requests: IO[str]
    scratch: Path
    answers: Iterator[str]

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request; return its answer, or what the end of the process means."""
        with suppress(OSError):  # where it has ended there is no answer either
            self.requests.write(json.dumps(request) + "\n")
            self.requests.flush()
        for line in self.answers:
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(answer, dict) and answer.get("id") == request["id"]:
                return answer
        return {
            "status": "unsupported",
            "reason": f"the interpreter's process ended early: {self.job.wait().stderr[-500:]}",
        }


@contextmanager
def _interpreter(artifact: Path, level: Level) -> Iterator[_Interpreter]:
    program, scratch = Path(sys.argv[0]).resolve(), Path(tempfile.mkdtemp(prefix="harness-runner-"))
    mounts = (Mount(artifact.resolve(), "/artifact"), Mount(program, str(program)))
    words = ["runner", visible_scratch(level, scratch), visible(level, mounts[0])]
    reading, writing = os.pipe()
    with _open_requests(writing) as requests:
        try:
            job = start(
                [sys.executable, str(program), *words],
                level=level,
                mounts=(*python_mounts(), *mounts),
                scratch=scratch,
                limits=_LIMITS,
                stdin=reading,
            )
        finally:
            os.close(reading)
        try:
            with job:
                yield _Interpreter(job, requests, scratch, job.lines())
        finally:
            remove_tree(scratch)


@contextmanager
def _open_requests(descriptor: int) -> Iterator[IO[str]]:
    """Yield the interpreter's standard input; what was not read by the time that it ended is lost."""
    requests = os.fdopen(descriptor, "w", encoding="utf-8")
    try:
        yield requests
    finally:
        with suppress(OSError):
            requests.close()


def check(request: NodeRequest, artifact: Path, document: ProblemDocument, tell: Any) -> tuple[list[CaseReport], Level]:
    """Check the cases of a request; after a failure the rest is not run."""
    level = next(level for level in Level if find_missing(level) is None)
    reports: list[CaseReport] = []
    with _interpreter(artifact, level) as interpreter:
        for number, case in enumerate(request.cases):
            try:
                reports.append(_check_case(interpreter, document, case, number))
            finally:
                for name in _file_names(number):
                    with suppress(OSError):  # whatever stands there now
                        (interpreter.scratch / name).unlink()
            tell({"event": "done", "id": case.id, "status": reports[-1].status})
            if reports[-1].status == "failed":
                break
    return reports + [CaseReport(case.id, "not_run", "after_failure") for case in request.cases[len(reports) :]], level


def _check_case(interpreter: _Interpreter, document: ProblemDocument, case: CaseRequest, number: int) -> CaseReport:
    from harness.replay.inputs import Request, make_sample
    from harness.replay.received import OutputError, read_received
    from harness.replay.reference import load_reference
    from harness.replay.ruling import rule
    from harness.replay.sent import write_tensors

    started, seed, reference = time.monotonic(), secrets.randbits(63), load_reference(document)
    sample = make_sample(reference, Request(tuple(sorted(case.shape.items())), case.distribution, seed))
    given, got = _file_names(number)
    write_tensors(interpreter.scratch / given, sample.inputs)
    answer = interpreter.ask(_interpreter_request(case, number, given, got))
    seconds = round(time.monotonic() - started, 3)
    report = CaseReport(case.id, "not_run", "not_interpretable", _text(answer), seeds=(seed,), seconds=seconds)
    if answer.get("status") in _FAILED:
        return replace(report, status="failed", reason=str(answer["status"]))
    if answer.get("status") != "done":
        return report
    try:
        received = read_received(interpreter.scratch / got, document, sample, sampled=case.timed)
        judgement = rule(document, sample, received, reference.not_finite)
    except OutputError as error:
        judgement = error.judgement
    told = f"{answer.get('programs_run')} of {answer.get('programs_total')} programs checked" if case.timed else ""
    if judgement.passed:
        return replace(report, status="passed", reason="", message=told, judgement=judgement, calls=1)
    return replace(
        report, status="failed", reason=str(judgement.reason), message=judgement.message, judgement=judgement
    )


def _file_names(number: int) -> tuple[str, str]:
    """Return the names of a case's files: inputs and outputs."""
    return f"in-{number}.safetensors", f"out-{number}.safetensors"


def _interpreter_request(case: CaseRequest, number: int, given: str, got: str) -> dict[str, Any]:
    sampled = {"sample": SAMPLED_PROGRAMS, "seed": secrets.randbits(31)} if case.timed else None
    request = {"id": number, "shape_id": case.shape_id, "inputs": given, "outputs": got, "programs": sampled}
    limits = {"workers": len(os.sched_getaffinity(0)), "seed": secrets.randbits(31), "time_limit_s": CASE_S}
    return {**request, **limits}


def _text(answer: dict[str, Any]) -> str:
    told = answer.get("reason")
    return told[:2000] if isinstance(told, str) else ""


def _replay(artifact: Path, problem: Path, request_file: Path, tell: Any) -> None:
    from importlib.util import find_spec

    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        tell(
            {
                "event": "error",
                "kind": "lacks",
                "message": f"{missing[0]} is not installed here: a check on CPUs needs it",
            }
        )
        return
    request = parse_request(json.loads(request_file.read_text(encoding="utf-8")))
    cases, level = check(request, artifact, load_problem_document(problem), tell)
    facts: Facts = {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version(), "sandbox": str(level)}
    tell({"event": "report", "report": encode_report(NodeReport(tuple(cases), {**facts, "score_clock": "none"}, {}))})


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

    try:
        _replay(Path(arguments[1]), Path(arguments[2]), Path(arguments[3]), tell)
    except HarnessError as error:
        tell({"event": "error", "message": str(error)[:2000]})
        return 3
    except Exception as error:
        traceback.print_exc()
        tell({"event": "error", "message": f"{type(error).__name__}: {error}"[:2000]})
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
