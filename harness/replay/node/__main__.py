"""The node's command: `node.pyz replay ARTIFACT PROBLEM REQUEST`, and `describe`, `rates`, `baseline`, `runner`.

Each prints JSON lines: progress events, and what was asked for last. The zip file's own `__main__` calls `main`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.replay.node.turn import Turn, take_turn


class _LacksError(HarnessError):
    """This machine cannot replay anything."""


Tell = Callable[[dict[str, Any]], None]

USAGE = (
    "usage: node.pyz replay ARTIFACT_DIR PROBLEM_DIR REQUEST.json | describe | rates | "
    "baseline PROBLEM_DIR REQUEST.json"
)


def _require_modules() -> None:
    """Raise _LacksError with what this machine lacks."""
    try:
        import torch
    except ImportError:
        raise _LacksError("torch is not installed here: the node needs torch with CUDA") from None
    if not torch.cuda.is_available():
        raise _LacksError("no GPU that torch can use: is a driver installed, and torch built with CUDA?")
    try:
        import cuda.bindings.driver  # noqa: F401
    except ImportError:
        raise _LacksError("cuda-bindings is not installed here: pip install cuda-bindings") from None


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


@contextlib.contextmanager
def _turn(tell: Tell, *, shared: bool = False) -> Iterator[Turn]:
    """Hold the GPU; say so where that takes a while. Nothing may be asked of CUDA after it.

    The context ends within the turn: while it is torn down, the next one's calls would take longer.
    """
    from harness.replay.gpu.driver import end_context, find_uuid

    def wait() -> None:
        tell({"event": "waiting"})

    def resume() -> None:
        tell({"event": "turn"})

    with take_turn(find_uuid(), wait, resumed=resume, shared=shared) as turn:
        yield turn
        gc.collect()  # a graph must not outlive the context
        end_context()


def _replay(artifact: Path, problem: Path, request_file: Path, tell: Tell) -> None:
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
        _require_modules()
        import torch

        from harness.replay.node.judging import GpuJudge
        from harness.replay.node.machine import ClockWatch, describe_node, open_nvml
        from harness.replay.node.replaying import replay
        from harness.replay.node.shared_memory import SharedMemory

        torch.set_grad_enabled(False)
        judge = GpuJudge(document)
        runner.wait_until_loaded()
        loaded = time.monotonic()
        with _turn(tell, shared=not any(case.timed for case in request.cases)) as turn:
            held = time.monotonic()
            torch.cuda.init()  # type: ignore[no-untyped-call]
            memory = SharedMemory(*shared)
            memory.offer(runner)
            runner.begin()  # its context comes up while ours does
            nvml = open_nvml()
            machine = describe_node(nvml)
            tell({"event": "node", "machine": machine})
            judge.warm_up(request.cases)
            runner.wait_until_started()
            ready = time.monotonic()
            with ClockWatch(nvml) as watch:
                cases, about = replay(request, artifact, judge, memory, runner, own_program(), tell, turn)
            ended = time.monotonic()
    facts = {
        "sandbox": about["level"],
        "score_clock": "cupti" if about.get("clock") else "none",
        "pinned": int(bool(about.get("pinned"))),
        "exchange": "gpu" if about.get("on_gpu") else "file",
        "runners": about["runners"],
        "load_s": round(loaded - started, 3),
        "start_s": round(ready - held, 3),
        "replay_s": round(ended - ready, 3),
    }
    facts |= {name: str(about[name]) for name in ("sampling", "why_no_clock", "why_lower") if about.get(name)}
    tell({"event": "report", "report": encode_report(NodeReport(tuple(cases), machine | facts, watch.facts()))})


def _describe(tell: Tell) -> None:
    _require_modules()
    from harness.replay.node.machine import describe_node, open_nvml

    tell({"event": "node", "machine": describe_node(open_nvml())})


def _measure_rates(tell: Tell) -> None:
    _describe(tell)
    from harness.replay.node.rates import measure_rates

    with _turn(tell):
        tell({"event": "rates", "rates": measure_rates()})


def _measure_baselines(problem: Path, request_file: Path, tell: Tell) -> None:
    from harness.replay.node.node_report import parse_request
    from harness.replay.node.problem_document import load_problem_document

    request = parse_request(json.loads(request_file.read_text(encoding="utf-8")))
    document = load_problem_document(problem)
    _require_modules()
    from harness.replay.gpu.span_clock import start_span_clock

    clock, why_not = start_span_clock()  # before there is a CUDA context
    if clock is None:
        raise _LacksError(f"no score clock: {why_not}")
    from harness.replay.node.baseline import measure_case
    from harness.replay.reference import load_reference

    _describe(tell)
    reference = load_reference(document)
    with _turn(tell):
        for case in request.cases:
            found = measure_case(reference, case.shape, case.distribution, clock)
            tell({"event": "baseline", "id": case.id, **{name: vars(measured) for name, measured in found.items()}})
    tell({"event": "done"})


def _carry_out(arguments: list[str], tell: Tell) -> int:
    command, *rest = arguments or [""]
    paths = [Path(word) for word in rest]
    if command == "replay" and len(paths) == 3:
        _replay(paths[0], paths[1], paths[2], tell)
    elif command == "describe" and not paths:
        _describe(tell)
    elif command == "rates" and not paths:
        _measure_rates(tell)
    elif command == "baseline" and len(paths) == 2:
        _measure_baselines(paths[0], paths[1], tell)
    else:
        tell({"event": "error", "message": USAGE})
        return 2
    return 0


def main(arguments: list[str]) -> int:
    """Run one command; return its exit code."""
    if arguments[:1] == ["runner"] and len(arguments) == 6:
        from harness.replay.gpu.runner import main as run

        return run(arguments[1:])
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: dict[str, Any]) -> None:
        out.write(json.dumps(event, allow_nan=False) + "\n")
        out.flush()

    try:
        _choose_gpu()
        return _carry_out(arguments, tell)
    except HarnessError as error:
        kind = "lacks" if isinstance(error, _LacksError) else "failed"
        tell({"event": "error", "kind": kind, "message": str(error)[:2000]})
        return 3
    except Exception as error:
        traceback.print_exc()
        tell({"event": "error", "message": f"{type(error).__name__}: {error}"[:2000]})
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
