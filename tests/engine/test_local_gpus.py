"""Which GPUs are here, and which of them the season ranks: the driver's tool repeats what real ones have said."""

import json
import os
import shutil
import stat
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from harness.engine.gpu_node import find_node
from harness.engine.local_gpus import find_local_gpus, find_season_gpu
from harness.spec import load_season
from harness.target import load_target
from tests.engine.test_gpu_stage import WORKSPACE


def driver_tool(tmp_path, monkeypatch, *rows, code=0):
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir(exist_ok=True)
    text = "".join(f"{row}\n" for row in rows)
    tool.write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.write({text!r})\nsys.exit({code})\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


H100, H200, B200 = "0, GPU-a, 9.0, NVIDIA H100 80GB HBM3", "1, GPU-b, 9.0, NVIDIA H200", "2, GPU-c, 10.0, NVIDIA B200"


def test_the_first_gpu_that_the_season_ranks_is_used(tmp_path, monkeypatch):
    season = load_season(WORKSPACE).model_copy(update={"targets": ("b200", "h200")})
    driver_tool(tmp_path, monkeypatch, H100, H200)
    assert find_season_gpu(season)[1].name == "h200"
    assert find_node(load_target("h200"), tmp_path)[:2] == ["env", "CUDA_VISIBLE_DEVICES=GPU-b"]
    assert find_node(load_target("b200"), tmp_path) is None
    driver_tool(tmp_path, monkeypatch, H100, H200, B200)
    assert find_season_gpu(season)[1].name == "b200"
    driver_tool(tmp_path, monkeypatch, H100)
    assert find_season_gpu(season) is None


@pytest.mark.parametrize(("shown", "names"), [("1", ["GPU-b"]), ("GPU-a", ["GPU-a"]), ("", []), ("7", [])])
def test_what_is_hidden_from_cuda_is_not_used(tmp_path, monkeypatch, shown, names):
    driver_tool(tmp_path, monkeypatch, H100, H200)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert [gpu.uuid for gpu in find_local_gpus()] == names


@pytest.mark.parametrize("shown", [None, "0", "GPU-a", ""])
@pytest.mark.parametrize("rows", [["No devices were found"], ["0, GPU-a, [N/A], NVIDIA H200"], ["NVIDIA-SMI,"], []])
def test_a_driver_that_lists_nothing_of_use(tmp_path, monkeypatch, rows, shown):
    driver_tool(tmp_path, monkeypatch, *rows, code=0 if rows else 9)
    if shown is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert find_local_gpus() == ()


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_rescoring_without_a_gpu_says_so(tmp_path):
    root = shutil.copytree(WORKSPACE, tmp_path / "w")
    command = [sys.executable, "-m", "harness", "rescore"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert "rescoring needs a GPU that the season ranks (h200): no GPU here" in result.stderr


def harness(tmp_path, *arguments):
    root = tmp_path / "w"
    if not root.exists():
        shutil.copytree(WORKSPACE, root)
    command = [sys.executable, "-m", "harness", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("verb", ["rescore", "baseline"])
def test_a_gpu_of_another_kind_is_named(tmp_path, monkeypatch, verb):
    driver_tool(tmp_path, monkeypatch, H100)
    result = harness(tmp_path, verb)
    assert result.returncode == 2
    assert result.stderr.rstrip().endswith("(h200): this machine has NVIDIA H100 80GB HBM3")


def test_rescoring_where_nothing_is_to_be_replayed_says_so(tmp_path, monkeypatch):
    driver_tool(tmp_path, monkeypatch, H200)
    result = harness(tmp_path, "rescore")
    assert (result.returncode, result.stdout.strip()) == (0, "")
    assert "no accepted record of h200 that today's evaluator has not scored (--again" in result.stderr


def test_doctor_says_what_a_gpu_here_cannot_be_used_without(tmp_path, monkeypatch):
    driver_tool(tmp_path, monkeypatch, H200)
    found = {row["name"]: row for row in json.loads(harness(tmp_path, "doctor", "--json").stdout)}
    assert found["gpu"]["state"] == "ok"
    lacking = [name for name in ("cuda-bindings", "cupti-python") if not installed(name)]
    assert found["replay"]["state"] == ("missing" if lacking or version("torch").endswith("+cpu") else "ok")
    assert all(name in found["replay"]["found"] for name in lacking)
    assert ("remove .venv and run `make environment`" in found["replay"]["advice"]) == (
        found["replay"]["state"] != "ok"
    )


def test_doctor_says_nothing_of_replays_where_there_is_no_gpu(tmp_path, monkeypatch):
    driver_tool(tmp_path, monkeypatch, code=9)
    names = [row["name"] for row in json.loads(harness(tmp_path, "doctor", "--json").stdout)]
    assert "gpu" in names
    assert "replay" not in names


def installed(package):
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False
