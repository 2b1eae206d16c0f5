"""What the tests of problems' folders share: a repository of one's own, and the command in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "tests" / "workspace"

HANGS_S = 1800  # the slowest takes minutes, on a busy machine many

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small repository: one problem, `scale`, with a starter."""
    shutil.copytree(TEMPLATE, tmp_path / "w")
    return tmp_path / "w"


@pytest.fixture
def harness(root: Path) -> Run:
    """Run the command in `root`."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "harness", *arguments]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=HANGS_S)

    return run


def lint(path: Path, text: str) -> str:
    """What ruff says of a text that would lie at `path` of this repository; nothing if it is fine."""
    told = ""
    for arguments in (["check", "--output-format", "concise"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(path), "-"]
        result = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=60)
        told += result.stdout + result.stderr if result.returncode else ""
    return told
