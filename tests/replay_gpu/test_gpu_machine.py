"""The whole path on a GPU machine, through the commands that people type (`make test-gpu`)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.engine.local_gpus import find_local_gpus, find_season_gpu
from harness.sandbox import Level, best_level
from harness.spec import load_season
from harness.store import load_records
from tests.replay_gpu.far import FarSide, why_no_sshd
from tests.replay_gpu.test_gpu import ATTACKS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]

TEMPLATE = Path(__file__).parents[1] / "workspace"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    root = shutil.copytree(TEMPLATE, tmp_path_factory.mktemp("gpu") / "w")
    shapes = root / "shapes.yaml"  # the attacks are raw Triton
    shapes.write_text(shapes.read_text().replace("  targets:", "  divisions: [closed, open]\n  targets:"))
    if find_season_gpu(load_season(root)) is None:
        pytest.skip(f"the season ranks none of {[gpu.name for gpu in find_local_gpus()]}")
    return root


def harness(checkout, *arguments, code=0):
    command = [sys.executable, "-m", "harness", *arguments]
    result = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=500)
    assert result.returncode == code, (result.stdout[-3000:], result.stderr[-3000:])
    return result


def document(checkout, *arguments, code=0):
    return json.loads(harness(checkout, *arguments, "--json", code=code).stdout)


def test_submit_uses_the_gpu_by_itself(checkout):
    record = document(checkout, "submit", "scale")
    assert record["verdict"]["kind"] == "PASSED", record["verdict"]
    assert record["target"] == find_season_gpu(load_season(checkout))[1].name
    assert record["score_us"] > 0
    assert [stage["name"] for stage in record["stages"]] == ["build", "check", "replay"]
    # Ranked, or every reason told.
    assert record["ranked"] == (record["unranked_reason"] is None)
    timing = next(case["timing"] for case in record["cases"] if case["timing"])
    assert timing["low_us"] < timing["time_us"] < timing["high_us"]
    assert len(timing["spans_us"]) == timing["samples"]


def test_the_runner_is_as_shut_in_as_this_machine_can(checkout):
    machine = document(checkout, "submit", "scale")["machine"]
    levels = list(Level)
    reached = Level(machine["runner_sandbox"])
    assert levels.index(reached) >= levels.index(best_level().level)
    assert reached is best_level().level or machine["why_lower_sandbox"]


def test_the_same_again_is_pooled(checkout):
    first = document(checkout, "submit", "scale")
    second = document(checkout, "submit", "scale")
    board = document(checkout, "board", "scale", "--target", first["target"])
    if not second["ranked"]:
        pytest.skip(second["unranked_reason"])
    assert [entry["runs"] >= 2 for entry in board["ranked"]] == [True]


def test_a_submission_that_faults_ends_itself_only(checkout):
    source = (ATTACKS / "misaligned.py").read_text()
    folder = checkout / "submissions" / "acme" / "scale"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "submission.py").write_text(source)
    record = document(checkout, "submit", "scale", "--team", "acme", "--division", "open", code=1)
    assert record["verdict"]["kind"] != "HARNESS_ERROR", record["verdict"]
    assert document(checkout, "submit", "scale")["verdict"]["kind"] == "PASSED"


def test_rescore_baseline_and_rates(checkout):
    document(checkout, "submit", "scale")
    assert all(one.get("verdict") == "PASSED" for one in document(checkout, "rescore", "--again"))
    (baselines,) = document(checkout, "baseline", "scale")
    (times,) = baselines["cases"].values()
    assert {"starter", "eager"} <= set(times), baselines["notes"]
    timing = next(c["timing"] for c in document(checkout, "submit", "scale")["cases"] if c["timing"])
    assert set(timing["speedups"]) == set(times)
    rates = document(checkout, "doctor", "--gpu")
    assert rates["measured"]["copy_tb_per_s"] > 0.5
    assert rates["measured"]["tf32_tflops"] > rates["measured"]["float32_tflops"]


def test_a_dry_run_records_nothing(checkout):
    document(checkout, "submit", "scale")
    harness(checkout, "board", "--save", "before")
    assert document(checkout, "dry-run", "scale")["verdict"]["kind"] == "PASSED"
    harness(checkout, "board", "--save", "after")
    before, after = (load_records(checkout / name) for name in ("before", "after"))
    assert [record.id for record in after] == [record.id for record in before]


@pytest.mark.skipif(bool(why_no_sshd()), reason=why_no_sshd())
def test_a_dry_run_over_ssh(checkout, tmp_path):
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES") if name in os.environ}
    far = FarSide(tmp_path, kept)
    try:
        reach = ["--node", "far", "--ssh-config", str(far.config), "--python", sys.executable]
        record = document(checkout, "dry-run", "scale", *reach)
    finally:
        far.close()
    assert record["verdict"]["kind"] == "PASSED", record["verdict"]
    assert record["unranked_reason"].endswith("a dry run is not recorded")
