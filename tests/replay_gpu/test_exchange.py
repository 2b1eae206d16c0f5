"""How runner and judge share memory, and how samples are drawn: the quick way and the one behind it, on a real GPU."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.replay.gpu.layout import Part, make_shared_file
from harness.replay.node.runner_process import RunnerProcess, own_program
from tests.replay_gpu.building import ATTACKS, build_artifact, export
from tests.replay_gpu.local_node import read_report

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]
OTHER_PROCESS = """
import socket, sys
from harness.replay.gpu.device_memory import open_device_memory
import torch
channel = socket.socket(fileno=int(sys.argv[1]))
memory = open_device_memory(socket.recv_fds(channel, 1, 1)[1][0], int(sys.argv[2])).memory
assert memory[:4].tolist() == [1, 2, 3, 4]
memory[:4] = torch.tensor([5, 6, 7, 8], dtype=torch.uint8)
torch.cuda.synchronize()
"""


def test_gpu_memory_is_shared_by_its_descriptor_and_copies_are_ones_own() -> None:
    import torch

    from harness.replay.gpu.device_memory import make_device_memory
    from harness.replay.gpu.exchange import Exchange

    made, descriptor = make_device_memory(1000)
    exchange, part = Exchange(made.memory, pinned=True), Part(0, "uint8", (4,))
    exchange.tensor(part).copy_(torch.tensor([1, 2, 3, 4], dtype=torch.uint8))
    taken = exchange.take(part)
    torch.cuda.synchronize()
    ours, theirs = socket.socketpair()
    socket.send_fds(ours, [b"."], [descriptor])
    command = [sys.executable, "-c", OTHER_PROCESS, str(theirs.fileno()), str(made.memory.numel())]
    subprocess.run(command, check=True, pass_fds=[theirs.fileno()], timeout=120)
    assert exchange.tensor(part).tolist() == [5, 6, 7, 8]
    assert taken.tolist() == [1, 2, 3, 4]
    exchange.wipe()
    assert set(made.memory.tolist()) == {0xA5}
    for end in (ours, theirs):
        end.close()
    os.close(descriptor)


@contextmanager
def started(artifact: Path, offered: tuple[int, int] | None, size: int) -> Iterator[tuple[RunnerProcess, Any]]:
    shared = make_shared_file(size)
    with RunnerProcess(own_program(), artifact, shared) as runner:
        runner.gpu_memory = offered
        runner.wait_until_started()
        yield runner, shared
    os.close(shared[0])


def test_what_is_no_gpu_memory_is_not_used(tmp_path: Path, gpu_target: str) -> None:
    export(build_artifact(ATTACKS / "honest.py", tmp_path / "state", gpu_target), tmp_path / "honest")
    offered = os.memfd_create("offered")
    os.ftruncate(offered, 2 << 20)
    with started(tmp_path / "honest" / "artifact", (offered, 2 << 20), 4096) as (runner, _):
        assert (runner.started["on_gpu"], runner.started["pinned"]) == (False, True)
    os.close(offered)


@pytest.mark.parametrize("name", ["honest", "wrong"])
def test_a_replay_through_a_file_comes_to_the_same(name: str, tmp_path: Path, gpu_target: str) -> None:
    from harness.replay.gpu.driver import find_uuid
    from harness.replay.node.case_layout import lay_out_case
    from harness.replay.node.judging import GpuJudge
    from harness.replay.node.node_report import parse_request
    from harness.replay.node.problem_document import load_problem_document
    from harness.replay.node.replaying import replay
    from harness.replay.node.shared_memory import SharedMemory
    from harness.replay.node.turn import take_turn

    class InFile(SharedMemory):
        """Offers no runner the GPU's memory, the second one either."""

        def offer(self, runner: RunnerProcess) -> None:
            runner.gpu_memory = None

    export(build_artifact(ATTACKS / f"{name}.py", tmp_path / "state", gpu_target), tmp_path / name)
    folder = tmp_path / name
    request = parse_request(json.loads((folder / "request.json").read_text()))
    problem = load_problem_document(folder / "problem")
    size = max(lay_out_case(problem, case.shape).size for case in request.cases)
    with (
        take_turn(find_uuid(), lambda: None) as turn,
        started(folder / "artifact", None, size) as (runner, shared),
    ):
        judge, memory = GpuJudge(problem), InFile(*shared)
        reports, about = replay(
            request, folder / "artifact", judge, memory, runner, own_program(), lambda _: None, turn
        )
    assert about["on_gpu"] is False
    seen = {report.status for report in reports}
    assert seen == ({"passed"} if name == "honest" else {"failed", "not_run"}), [(r.reason, r.message) for r in reports]


def test_the_gpus_own_memory_and_graphs_are_used_where_they_can_be(
    gpu_node: Path,
    gpu_target: str,
    tmp_path: Path,
) -> None:
    export(build_artifact(ATTACKS / "honest.py", tmp_path / "state", gpu_target), tmp_path / "honest")
    machine = read_report(gpu_node, tmp_path / "honest")["machine"]
    assert (machine["exchange"], machine["sampling"]) == ("gpu", "graphs")


@pytest.mark.parametrize("name", ["honest", "wrong"])
def test_a_reference_that_no_graph_can_hold_is_run_as_it_is(
    name: str,
    gpu_node: Path,
    gpu_target: str,
    tmp_path: Path,
) -> None:
    """One that reads a number back from the GPU."""
    export(build_artifact(ATTACKS / f"{name}.py", tmp_path / "state", gpu_target), tmp_path / name)
    reference = tmp_path / name / "problem" / "reference.py"
    text = reference.read_text()
    reference.write_text(text.replace("    return (x *", "    assert x.abs().max().item() >= 0\n    return (x *"))
    assert reference.read_text() != text
    report = read_report(gpu_node, tmp_path / name)
    passed = [case["status"] == "passed" for case in report["cases"]]
    assert all(passed) if name == "honest" else not all(passed)
    assert report["machine"].get("sampling") == ("operators" if name == "honest" else None)
