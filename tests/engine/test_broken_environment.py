"""Environments that are not as we would have them: nobody's submission is blamed for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import harness
from harness.sandbox import best_level
from tests.engine.conftest import Workspace


def test_a_tracer_that_cannot_start_is_our_fault(workspace: Workspace, tmp_path: Path) -> None:
    """As with another checkout's .venv on PATH: `python -m harness` finds this one, what it starts does not."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (folder,) = venv.glob("lib/python3*/site-packages")
    (folder / "packages.pth").write_text(sysconfig.get_path("purelib"))  # without what its .pth files add
    environment = {**os.environ, "PYTHONPATH": str(Path(harness.__file__).parents[1])}
    command = [venv / "bin" / "python", "-m", "harness", "submit", "scale", "--json"]
    done = subprocess.run(command, cwd=workspace.root, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, done.stderr
    verdict = json.loads(done.stdout)["verdict"]
    assert verdict["kind"] == "HARNESS_ERROR"
    assert "before it had begun: " in verdict["message"]
    assert "No module named 'harness'" in verdict["message"]
    assert "`make environment` mends .venv" in verdict["message"]


def test_a_umask_that_closes_all_to_others_closes_nothing_to_the_sandbox(workspace: Workspace) -> None:
    """As root, a sandbox's processes are another user's."""
    command = f"umask 077; exec {sys.executable} -m harness submit scale --json"
    done = subprocess.run(["sh", "-c", command], cwd=workspace.root, capture_output=True, text=True, timeout=240)
    record = json.loads(done.stdout)
    assert record["verdict"]["kind"] == "CHECKED", record["verdict"]
    assert record["sandbox_level"] == best_level().level
