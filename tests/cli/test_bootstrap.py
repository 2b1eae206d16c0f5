"""The environment's maker, as far as it can be seen without downloading everything again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def checkout(tmp_path):
    """A checkout with nothing in it but what the maker reads, and a project that needs nothing."""
    for name in ("harness/bootstrap.py", ".ci/constraints.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "nothing"\nversion = "1"\n[project.optional-dependencies]\ndev = []\n'
    )
    return tmp_path


def make(folder, **environment):
    command = [sys.executable, "-I", str(folder / "harness" / "bootstrap.py")]
    settings = {**os.environ, "TORCH_INDEX": "none", **environment}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=settings)


def test_a_failure_says_what_failed_and_leaves_no_stamp(tmp_path):
    folder = checkout(tmp_path)
    (folder / "pyproject.toml").write_text("not toml [")
    result = make(folder)
    assert result.returncode == 3
    assert "failed; mend what its messages above say, and run it again" in result.stderr
    assert not (folder / ".venv" / "environment.sha256").exists()
    assert "Traceback" not in result.stderr.split("environment:")[-1]


def test_an_environment_that_is_up_to_date_costs_nothing(tmp_path):
    folder = checkout(tmp_path)
    (folder / ".venv").mkdir()
    code = "import runpy; m = runpy.run_path('harness/bootstrap.py'); print(m['fingerprint']())"
    told = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True).stdout
    (folder / ".venv" / "environment.sha256").write_text(told.strip())
    result = make(folder)
    assert (result.returncode, result.stderr) == (0, "")
    (folder / ".ci" / "constraints.txt").write_text("# changed\n")
    assert "making the environment" in make(folder, PIP_NO_INDEX="1").stderr


def test_the_environments_own_python_makes_no_other_environment(tmp_path):
    """`make` with .venv/bin on the PATH."""
    folder = checkout(tmp_path)
    code = (
        "import runpy; m = runpy.run_path('harness/bootstrap.py'); print(m['fingerprint'](), m['find_interpreter']())"
    )

    def ask(python):
        told = subprocess.run([python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=True)
        return told.stdout.split()

    outside = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([outside, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    fingerprint, interpreter = ask(folder / ".venv" / "bin" / "python3")
    assert fingerprint == ask(outside)[0]
    assert not Path(interpreter).is_relative_to(folder)


def test_a_driver_brings_the_score_clock_and_cuda_and_another_environment(tmp_path):
    folder = checkout(tmp_path)
    (folder / "bin").mkdir()
    code = """
import runpy, sys, pathlib
m = runpy.run_path('harness/bootstrap.py')
m['extras'].__globals__['DRIVER'] = pathlib.Path(sys.argv[1])
print(m['extras'](), m['torch_options'](), m['fingerprint']())
"""

    def ask(device, index):
        environment = {**os.environ, "PATH": str(folder / "bin"), "TORCH_INDEX": index}
        done = subprocess.run([sys.executable, "-c", code, str(device)], cwd=folder, capture_output=True, text=True,
                              check=True, env=environment)  # fmt: skip
        return done.stdout.split()

    without = ask(folder / "none", "https://index.example/cpu")
    assert without[:3] == ["dev", "['--extra-index-url',", "'https://index.example/cpu']"]
    by_device = ask(folder / "bin", "auto")
    (folder / "bin" / "nvidia-smi").write_text("#!/bin/sh\n")
    (folder / "bin" / "nvidia-smi").chmod(0o755)
    by_tool = ask(folder / "none", "auto")
    assert by_device == by_tool
    assert by_device[:2] == ["dev,gpu", "[]"]
    assert by_device[2] != without[3]
