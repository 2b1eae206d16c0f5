"""The attacks, built and replayed on a real GPU: each is refused by name, or gains nothing (`make test-gpu`)."""

import shutil

import pytest

from harness.replay.timing import summarise
from tests.replay_gpu.building import ATTACKS, EDITED, MUCH_SHARED_BYTES, build_artifact, export
from tests.replay_gpu.local_node import replay

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


@pytest.mark.parametrize("name", EXPECTED)
def test_attack(name, gpu_node, gpu_target, tmp_path):
    source = "honest" if name in EDITED else name
    artifact = build_artifact(ATTACKS / f"{source}.py", tmp_path / "state", gpu_target)
    export(EDITED[name](artifact) if name in EDITED else artifact, tmp_path / name)
    cases = replay(gpu_node, tmp_path / name)
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


def test_calls_that_do_others_work_are_unstable(gpu_node, gpu_target, tmp_path):
    export(build_artifact(ATTACKS / "noisy.py", tmp_path / "state", gpu_target), tmp_path / "noisy")
    assert "mean_gap" in {timing.fault for timing in times_of(replay(gpu_node, tmp_path / "noisy"))}


def test_nothing_is_kept_in_the_cache(gpu_node, gpu_target, tmp_path):
    found = {}
    for name in ("honest", *KEEPERS):
        export(build_artifact(ATTACKS / f"{name}.py", tmp_path / "state", gpu_target), tmp_path / name)
        found[name] = [timing.time_us for timing in times_of(replay(gpu_node, tmp_path / name))]
    for name in KEEPERS:
        assert all(kept > GAIN * time for kept, time in zip(found[name], found["honest"], strict=True)), found


def test_every_attack_has_an_expectation():
    assert {path.stem for path in ATTACKS.glob("*.py")} | set(EDITED) == set(EXPECTED)
