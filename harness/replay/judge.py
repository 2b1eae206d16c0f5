"""The judge: the process that holds seeds, references and expected values, and compares.

usage: python -m harness.replay.judge PROBLEM_DIR

It shares no memory with the runner, whose files it reads as hostile. It imports the problem's reference.py: the
organiser's code, trusted but fallible, which is why this is a process of its own. One JSON request a line on stdin, one
JSON reply a line on a private copy of stdout (whatever reference.py prints goes to stderr):

    {"do": "inputs", "case": {"shape": {...}, "distribution": "model"}, "seed": 1, "file": "/.../in.safetensors"}
    {"do": "compare", "case": ..., "seed": 1, "file": "/.../out.safetensors", "sampled": false}

The first line that it sends says whether the problem could be loaded. A reply with "error" is the organiser's fault
("spec"), the request's ("usage") or ours ("internal"); a submission's fault is a judgement, never an error.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

from harness.errors import HarnessError, SpecError, UsageError
from harness.replay.judgement import encode_judgement
from harness.replay.local_judge import LocalJudge
from harness.spec import load_problem


def answer(judge: LocalJudge, message: dict[str, Any]) -> dict[str, Any]:
    """Answer one request; what goes wrong becomes an error reply."""
    try:
        request, file = _parse_request(message), Path(message["file"])
        if message["do"] == "inputs":
            made = judge.make_inputs(*request, file)
            return {"tensors": made.tensors, "bytes": made.size_bytes}
        if message["do"] == "compare":
            judgement = judge.compare(*request, file, sampled=bool(message.get("sampled", False)))
            return {"judgement": encode_judgement(judgement)}
        raise UsageError(f"the judge can't {message['do']!r}")
    except Exception as error:
        return _encode_error(error)


def _parse_request(message: dict[str, Any]) -> tuple[dict[str, int], str, int]:
    case = message["case"]
    shape = {str(axis): int(size) for axis, size in case["shape"].items()}
    return shape, str(case["distribution"]), int(message["seed"])


def _encode_error(error: Exception) -> dict[str, Any]:
    kind = "spec" if isinstance(error, SpecError) else "usage" if isinstance(error, UsageError) else "internal"
    if kind == "internal":
        traceback.print_exception(error)
    text = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
    return {"error": {"kind": kind, "message": text}}


def _take_stdout() -> TextIO:
    """Keep stdout for replies, and send what anybody prints to stderr."""
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "w", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Serve requests until stdin ends."""
    replies = _take_stdout()

    def send(reply: dict[str, Any]) -> None:
        replies.write(json.dumps(reply, allow_nan=False) + "\n")
        replies.flush()

    try:
        problem = load_problem(Path(arguments[0]))
        judge = LocalJudge(problem)
    except Exception as error:
        send(_encode_error(error))
        return 3
    send({"ready": problem.name})
    for line in sys.stdin:
        send(answer(judge, json.loads(line)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
