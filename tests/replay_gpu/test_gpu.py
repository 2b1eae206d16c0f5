"""The attacks, built and replayed on a real GPU: each is refused by name, or gains nothing (`make test-gpu`)."""

import json
import shutil
import subprocess
import sys

import pytest

from harness.engine.gpu_node import find_local_gpu
from harness.replay.timing import summarise
from tests.replay_gpu.building import ATTACKS, EDITED, MUCH_SHARED_BYTES, build_artifact, export

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]

# name -> (status, reasons) of the first case that does not pass; a store far away may or may not hit mapped memory.
EXPECTED = {
    "honest": ("passed", {""}),
    "keeper": ("passed", {""}),
    "small_keeper": ("passed", {""}),
    "several_steps": ("passed", {""}),
    "clustered": ("passed", {""}),
    "grid_barrier": ("passed", {""}),
    "grid_3d": ("passed", {""}),
    "host_descriptors": ("passed", {""}),
    "device_descriptors": ("passed", {""}),
    "skinny_product": ("passed", {""}),
    "dependent": ("passed", {""}),
    "profile_scratch": ("passed", {""}),
    "noisy": ("passed", {""}),  # right, and judged UNSTABLE by its times
    "unwritten_bits": ("passed", {""}),  # right, and never twice the same
    "wrong": ("failed", {"wrong_values"}),
    "stale_scratch": ("failed", {"unwritten"}),
    "skipper": ("failed", {"unwritten"}),
    "input_writer": ("failed", {"input_modified"}),
    "late_input_writer": ("failed", {"input_modified"}),
    "far_load": ("fault", {"illegal_address"}),
    "far_store": ("fault", {"illegal_address", "out_of_bounds"}),
    "next_place": ("fault", {"illegal_address", "out_of_bounds"}),
    "overrun": ("fault", {"out_of_bounds"}),
    "two_kernels": ("fault", {"out_of_bounds"}),
    "late_stray": ("fault", {"out_of_bounds"}),
    "blame_hang": ("fault", {"timeout"}),
    "cpu_only_operator": ("fault", {"unsupported_kernel"}),
    "spoilt_capture": ("fault", {"unsupported_kernel"}),
    "misaligned": ("fault", {"misaligned_address"}),
    "endless": ("fault", {"timeout"}),
    "out_of_memory": ("fault", {"out_of_memory"}),
    "much_shared_memory": ("fault", {"out_of_resources"}),
    "variables": ("fault", {"unsupported_kernel"}),
}
MESSAGES = {
    "blame_hang": "an endless loop in a kernel?",
    "cpu_only_operator": "aten.mm.default does not run on a cuda device",
    "endless": "an endless loop in a kernel?",
    "late_stray": "wrote to memory that belongs to no tensor of its launch",
    "much_shared_memory": f"asks for {MUCH_SHARED_BYTES} bytes of shared memory, more than a block of this GPU has",
    "out_of_memory": "the GPU's memory does not hold what the call allocates",
    "spoilt_capture": "aten.index.Tensor cannot be captured into a CUDA graph",
    "variables": "scale has variables that outlive a call",
}
DIFFERS = frozenset({"unwritten_bits"})  # two calls on equal inputs do not agree bit by bit
KEEPERS = frozenset({"keeper", "small_keeper"})  # of what must gain nothing over `honest`
GAIN = 0.95


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    from harness.replay.node.pack import build_node

    path = tmp_path_factory.mktemp("node") / "node.pyz"
    build_node(path)
    return path


@pytest.fixture(scope="module")
def target():
    gpu = find_local_gpu()
    name = next((name for name in ("b200", "h200", "h100") if gpu and name in gpu.name.lower()), None)
    if name is None:
        pytest.skip(f"no described target for {gpu}")
    return name


def replay(node, folder):
    return read_report(node, folder)["cases"]


def read_report(node, folder):
    command = [sys.executable, node, "replay", folder / "artifact", folder / "problem", folder / "request.json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (events[-1]["event"], done.returncode) == ("report", 0), (events, done.returncode, done.stderr[-2000:])
    return events[-1]["report"]


@pytest.mark.parametrize("name", EXPECTED)
def test_attack(name, node, target, tmp_path):
    source = "honest" if name in EDITED else name
    artifact = build_artifact(ATTACKS / f"{source}.py", tmp_path / "state", target)
    export(EDITED[name](artifact) if name in EDITED else artifact, tmp_path / name)
    cases = replay(node, tmp_path / name)
    first = next((case for case in cases if case["status"] != "passed"), cases[-1])
    status, reasons = EXPECTED[name]
    assert first["status"] == status, first
    assert first["reason"] in reasons, first
    assert MESSAGES.get(name, "") in first["message"], first
    if status == "passed":
        assert all(bool(case["differing_bits"]) == (name in DIFFERS) for case in cases), cases


def times_of(cases):
    samples = [case["samples"] for case in cases if case["samples"] and case["samples"]["spans_us"]]
    return [summarise(found["spans_us"], found["witness_us"], found["nodes"]) for found in samples]


def test_calls_that_do_others_work_are_unstable(node, target, tmp_path):
    export(build_artifact(ATTACKS / "noisy.py", tmp_path / "state", target), tmp_path / "noisy")
    assert "mean_gap" in {timing.fault for timing in times_of(replay(node, tmp_path / "noisy"))}


def test_nothing_is_kept_in_the_cache(node, target, tmp_path):
    found = {}
    for name in ("honest", *KEEPERS):
        export(build_artifact(ATTACKS / f"{name}.py", tmp_path / "state", target), tmp_path / name)
        found[name] = [timing.time_us for timing in times_of(replay(node, tmp_path / name))]
    for name in KEEPERS:
        assert all(kept > GAIN * time for kept, time in zip(found[name], found["honest"], strict=True)), found


def test_every_attack_has_an_expectation():
    assert {path.stem for path in ATTACKS.glob("*.py")} | set(EDITED) == set(EXPECTED)
