"""Which GPUs are here, and which of them the season ranks: the driver's tool repeats what real ones have said."""

import os
import shutil
import stat
import subprocess
import sys

import pytest

from harness.engine.gpu_node import find_local_gpus, find_node, find_season_gpu
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


@pytest.mark.parametrize("rows", [["No devices were found"], ["0, GPU-a, [N/A], NVIDIA H200"], []])
def test_a_driver_that_lists_nothing_of_use(tmp_path, monkeypatch, rows):
    driver_tool(tmp_path, monkeypatch, *rows, code=0 if rows else 9)
    assert find_local_gpus() == ()


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_rescoring_without_a_gpu_says_so(tmp_path):
    root = shutil.copytree(WORKSPACE, tmp_path / "w")
    command = [sys.executable, "-m", "harness", "rescore"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert "rescoring needs a GPU that the season ranks (h200): no GPU here" in result.stderr
