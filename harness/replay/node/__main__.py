"""The node's command: `node.pyz replay ARTIFACT PROBLEM REQUEST`, `node.pyz runner ...`, `node.pyz describe`.

`replay` prints JSON lines: progress events, and one report last. The zip file's own `__main__` calls `main`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from harness.errors import HarnessError


class _LacksError(HarnessError):
    """This machine cannot replay anything."""


USAGE = "usage: node.pyz replay ARTIFACT_DIR PROBLEM_DIR REQUEST.json | describe"


def _check_modules() -> str:
    """Return what this machine lacks, "" if nothing."""
    try:
        import torch
    except ImportError:
        return "torch is not installed here: the node needs torch with CUDA"
    if not torch.cuda.is_available():
        return "no GPU that torch can use: is a driver installed, and torch built with CUDA?"
    try:
        import cuda.bindings.driver  # noqa: F401
    except ImportError:
        return "cuda-bindings is not installed here: pip install cuda-bindings"
    return ""


def _choose_gpu() -> None:
    """Let this process and its runner see one GPU, by a name that holds in a sandbox too: the driver's first."""
    tool = shutil.which("nvidia-smi")
    if "CUDA_VISIBLE_DEVICES" in os.environ or tool is None:
        return
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        query = [tool, "--query-gpu=uuid", "--format=csv,noheader"]
        listed = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False).stdout.split()
        if listed and listed[0].startswith("GPU-"):
            os.environ["CUDA_VISIBLE_DEVICES"] = listed[0]


def _replay_in_turn(artifact: Path, problem: Path, request_file: Path, tell: Any) -> None:
    from harness.replay.node.turn import take_turn

    def wait() -> None:
        tell({"event": "waiting"})
        waited.append(True)

    waited: list[bool] = []
    with take_turn(os.environ.get("CUDA_VISIBLE_DEVICES", ""), wait):
        if waited:
            tell({"event": "turn"})
        _replay(artifact, problem, request_file, tell)


def _replay(artifact: Path, problem: Path, request_file: Path, tell: Any) -> None:
    started = time.monotonic()
    from harness.replay.node.node_report import NodeReport, encode_report, parse_request
    from harness.replay.node.problem_document import load_problem_document

    request = parse_request(json.loads(request_file.read_text(encoding="utf-8")))
    document = load_problem_document(problem)

    # The runner loads torch while this process does.
    from harness.replay.gpu.layout import make_shared_file
    from harness.replay.node.case_layout import lay_out_case
    from harness.replay.node.runner_process import RunnerProcess, own_program

    shared = make_shared_file(max(lay_out_case(document, case.shape).size for case in request.cases))
    with RunnerProcess(own_program(), artifact, shared) as runner:
        missing = _check_modules()
        if missing:
            raise _LacksError(missing)
        import torch

        from harness.replay.gpu.exchange import Exchange
        from harness.replay.node.judging import GpuJudge
        from harness.replay.node.machine import ClockWatch, describe_node, open_nvml
        from harness.replay.node.replaying import replay

        torch.set_grad_enabled(False)
        judge = GpuJudge(document)
        torch.cuda.init()  # type: ignore[no-untyped-call]
        exchange = Exchange(*shared)
        exchange.pin()
        nvml = open_nvml()
        machine = describe_node(nvml)
        tell({"event": "node", "machine": machine})
        judge.warm_up(request.cases[0].shape, request.cases[0].distribution)
        runner.wait_until_started()
        ready = time.monotonic()
        with ClockWatch(nvml) as watch:
            cases, about = replay(request, artifact, judge, exchange, runner, own_program(), tell)
    facts = {
        "sandbox": about["level"],
        "score_clock": "cupti" if about.get("clock") else "none",
        "pinned": int(bool(about.get("pinned"))),
        "runners": about["runners"],
        "start_s": round(ready - started, 3),
        "replay_s": round(time.monotonic() - ready, 3),
    }
    facts |= {name: str(about[name]) for name in ("why_no_clock", "why_lower") if about.get(name)}
    tell({"event": "report", "report": encode_report(NodeReport(tuple(cases), machine | facts, watch.facts()))})


def main(arguments: list[str]) -> int:
    """Run one command; return its exit code."""
    if arguments[:1] == ["runner"] and len(arguments) == 5:
        from harness.replay.gpu.runner import main as run

        return run(arguments[1:])
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: dict[str, Any]) -> None:
        out.write(json.dumps(event, allow_nan=False) + "\n")
        out.flush()

    try:
        _choose_gpu()
        if arguments[:1] == ["replay"] and len(arguments) == 4:
            _replay_in_turn(Path(arguments[1]), Path(arguments[2]), Path(arguments[3]), tell)
        elif arguments == ["describe"]:
            if _check_modules():
                raise _LacksError(_check_modules())
            from harness.replay.node.machine import describe_node, open_nvml

            tell({"event": "node", "machine": describe_node(open_nvml())})
        else:
            tell({"event": "error", "message": USAGE})
            return 2
    except HarnessError as error:
        kind = "lacks" if isinstance(error, _LacksError) else "failed"
        tell({"event": "error", "kind": kind, "message": str(error)[:2000]})
        return 3
    except Exception as error:
        traceback.print_exc()
        tell({"event": "error", "message": f"{type(error).__name__}: {error}"[:2000]})
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
