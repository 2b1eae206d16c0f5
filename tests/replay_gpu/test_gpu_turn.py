"""Two replays on one GPU: one's hunger for memory is not the other's fault (`make test-gpu`)."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from harness.artifact import Artifact
from harness.plan import Named, OpStep, Tensor, TensorMeta
from tests.replay_gpu.building import ATTACKS, build_artifact, export
from tests.replay_gpu.local_node import TIMEOUT_S, start_replay

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]
LEFT_BYTES = 5 << 30  # enough for two processes' CUDA contexts and what surrounds a call
WANTED_BYTES = 8 << 30  # by a call: more than is left, and less than an idle GPU has

OTHER_REPLAY = f"""
import sys
import torch
from harness.replay.gpu.driver import find_uuid
from harness.replay.node.turn import take_turn
with take_turn(find_uuid(), lambda: None, shared=True):
    held = torch.empty(torch.cuda.mem_get_info()[0] - {LEFT_BYTES}, dtype=torch.uint8, device="cuda")
    print("held", flush=True)
    sys.stdin.read()
    del held
    torch.cuda.empty_cache()
"""


def want_memory(artifact: Artifact) -> Artifact:
    """Return the artifact with a large allocation at the start of every plan."""
    plans = {}
    for shape, plan in artifact.plans.items():
        kwargs = (("dtype", Named("dtype", "uint8")), ("device", Named("device", "cuda")))
        step = OpStep("aten.empty.memory_format", ((WANTED_BYTES,),), kwargs, (Tensor(len(plan.tensors)),))
        tensors = (*plan.tensors, TensorMeta((WANTED_BYTES,), (1,), "uint8"))
        plans[shape] = dataclasses.replace(plan, tensors=tensors, steps=(step, *plan.steps))
    return dataclasses.replace(artifact, plans=plans)


def test_who_lacks_memory_beside_another_has_a_second_try_alone(
    gpu_node: Path, gpu_target: str, tmp_path: Path
) -> None:
    export(want_memory(build_artifact(ATTACKS / "honest.py", tmp_path / "state", gpu_target)), tmp_path / "hungry")
    file = tmp_path / "hungry" / "request.json"
    request = json.loads(file.read_text())
    request["cases"] = [case | {"timed": False} for case in request["cases"][:1]]
    file.write_text(json.dumps(request))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    events = []
    with subprocess.Popen([sys.executable, "-c", OTHER_REPLAY], **pipes) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with start_replay(gpu_node, tmp_path / "hungry") as hungry:
            assert hungry.stdout is not None
            overdue = Timer(TIMEOUT_S, hungry.kill)
            overdue.start()
            for line in hungry.stdout:
                events.append(json.loads(line))
                if events[-1]["event"] == "waiting":
                    other.communicate(timeout=60)
            overdue.cancel()
    names = [event["event"] for event in events]
    assert names.index("retry") < names.index("waiting") < names.index("turn"), names
    assert next(event["reason"] for event in events if event["event"] == "retry") == "out_of_memory"
    report = events[-1]["report"]
    assert [case["status"] for case in report["cases"]] == ["passed"], report
    assert report["machine"]["runners"] == 2
