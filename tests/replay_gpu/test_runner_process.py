"""A runner's process from the judge's side, on any machine: started, asked, and ended more than once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.replay.gpu.faults import GpuError
from harness.replay.gpu.layout import make_shared_file
from harness.replay.node import runner_process
from harness.replay.node.confinement import confine
from harness.replay.node.runner_process import RunnerProcess
from harness.sandbox import Level, why_not

LOADS = """
import json, os, sys
os.write(int(sys.argv[-1]), json.dumps({"status": "loaded"}).encode() + b"\\n")
asked = sys.stdin.readline()
"""
STARTS = f"""{LOADS}
os.write(int(sys.argv[-1]), json.dumps({{"status": "started", "clock": False}}).encode() + b"\\n")
sys.stdin.read()
"""
FAULTS = """
import json, os, sys
reply = {"status": "fault", "reason": "machine", "message": "no driver here", "kernel": ""}
os.write(int(sys.argv[-1]), json.dumps(reply).encode() + b"\\n")
"""


@pytest.fixture
def shared() -> Iterator[tuple[int, int]]:
    descriptor, size = make_shared_file(4096)
    yield descriptor, size
    os.close(descriptor)


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


@pytest.mark.parametrize("level", list(Level))
def test_a_confined_runner_is_closed_twice(level: Level, shared: tuple[int, int], tmp_path: Path) -> None:
    if missing := why_not(level):
        pytest.skip(missing)
    confined = confine(program(STARTS), tmp_path, shared, level)
    confined.close()
    reused = os.pipe()  # they may have the numbers of what was closed
    try:
        confined.close()
        assert os.write(reused[1], b"still open") == 10
        assert os.read(reused[0], 10) == b"still open"
    finally:
        for end in reused:
            os.close(end)
    assert not confined.scratch.exists()
    assert confined.job.wait().code == 0  # it ended by itself


@pytest.mark.parametrize("level", list(Level))
def test_a_runner_that_was_closed_within_its_block_ends_quietly(
    level: Level, shared: tuple[int, int], tmp_path: Path
) -> None:
    if missing := why_not(level):
        pytest.skip(missing)
    with RunnerProcess(program(STARTS), tmp_path, shared, level) as runner:
        runner.wait_until_started()
        runner.close()
    assert runner.level is level
    assert runner.started["clock"] is False


def test_a_runner_that_never_comes_up_says_why(shared: tuple[int, int], tmp_path: Path) -> None:
    with RunnerProcess(program(FAULTS), tmp_path, shared) as runner:
        with pytest.raises(GpuError, match="no driver here") as fault:
            runner.wait_until_started()
        runner.close()
    assert fault.value.reason == "machine"
    assert len(runner.why_lower) == len(Level) - 1


def test_a_runner_leaves_the_gpu_alone_until_it_is_told_to_start(shared: tuple[int, int], tmp_path: Path) -> None:
    """So that the next runner can load torch while this one has the GPU."""
    told = '{"status": "started", "asked": asked}'
    answers = f'{LOADS}\nos.write(int(sys.argv[-1]), json.dumps({told}).encode() + b"\\n")\nsys.stdin.read()'
    with RunnerProcess(program(answers), tmp_path, shared) as runner:
        runner.wait_until_loaded()
        assert runner.started == {}
        runner.wait_until_started()
    assert runner.started["asked"] == '{"do": "start", "gpu_bytes": 0}\n'


def test_a_runner_that_loads_and_does_not_start_is_tried_at_the_next_level(
    shared: tuple[int, int], tmp_path: Path
) -> None:
    with RunnerProcess(program(LOADS + FAULTS), tmp_path, shared) as runner:
        runner.wait_until_loaded()
        with pytest.raises(GpuError, match="no driver here"):
            runner.wait_until_started()
    assert len(runner.why_lower) == len(Level) - 1


def test_a_runner_is_handed_the_memory_that_it_is_offered(shared: tuple[int, int], tmp_path: Path) -> None:
    """Through the sandbox at whatever level this machine has: a descriptor, and how large what it stands for is."""
    answers = f"""{LOADS}
import socket
channel = socket.socket(fileno=int(sys.argv[-2]))
descriptor = socket.recv_fds(channel, 1, 1)[1][0]
reply = {{"status": "started", "seen": os.pread(descriptor, 5, 0).decode(), "asked": json.loads(asked)}}
os.write(int(sys.argv[-1]), json.dumps(reply).encode() + b"\\n")
sys.stdin.read()
"""
    offered = os.memfd_create("offered")
    os.write(offered, b"hello")
    with RunnerProcess(program(answers), tmp_path, shared) as runner:
        runner.gpu_memory = (offered, 4096)
        runner.wait_until_started()
    os.close(offered)
    assert runner.started["seen"] == "hello"
    assert runner.started["asked"] == {"do": "start", "gpu_bytes": 4096}


def test_a_shape_that_cannot_be_prepared_in_time_is_the_machines_fault(
    shared: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_process, "PREPARE_TIMEOUT_S", 0.2)
    with RunnerProcess(program(STARTS), tmp_path, shared) as runner:
        runner.wait_until_started()
        with pytest.raises(GpuError, match=r"the runner did not prepare within 0\.2 s") as fault:
            runner.prepare("a", 3)
    assert fault.value.reason == "machine"
