"""A workspace of its own for each test: one tiny problem, its starter, and whatever the test submits."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[1] / "workspace"
STARTER = (TEMPLATE / "submissions" / "starter" / "scale" / "submission.py").read_text()


class Workspace:
    """A checkout to type commands in."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str, timeout_s: float = 240) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "harness", *arguments]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=timeout_s)

    def write(self, source: str | bytes, team: str = "acme") -> Path:
        path = self.root / "submissions" / team / "scale" / "submission.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source if isinstance(source, bytes) else source.encode())
        return path

    def submit(self, source: str | bytes | None = None, *options: str, code: int | None = None) -> dict:
        """Submit as team acme (or the starter) and return the record."""
        team = "starter"
        if source is not None:
            team = "acme"
            self.write(source)
        result = self.run("submit", "scale", "--team", team, "--json", *options)
        assert code is None or result.returncode == code, (result.returncode, result.stdout[-3000:], result.stderr)
        return json.loads(result.stdout)


@pytest.fixture
def workspace(tmp_path):
    shutil.copytree(TEMPLATE, tmp_path / "w")
    return Workspace(tmp_path / "w")


@pytest.fixture(scope="session")
def starter():
    return STARTER
