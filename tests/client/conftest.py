"""A real service on SQLite in this process, a repository of a team's own, and the command in it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import keyring
import pytest
from keyring.backends import null

from harness.client.address import Address, parse_address
from harness.client.connection import Connection
from harness.client.tokens import Token, token_file
from harness.service.settings import Limits
from harness.store.database import Database
from tests.client.canned import Canned
from tests.service.conftest import sqlite_template  # noqa: F401  a fixture
from tests.service.event import WORKSPACE
from tests.service.live import Live

LIMITS = Limits(pending=3, per_hour=100, body_bytes=200_000)


@pytest.fixture(autouse=True)
def empty_keyring():
    """The keyring of whoever runs the tests is none of their business."""
    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def live(sqlite_template, tmp_path):  # noqa: F811
    path = tmp_path / "service.sqlite"
    shutil.copy(sqlite_template, path)
    database = Database(path, 15.0)
    live = Live(database, LIMITS)
    live.admit()
    yield live
    live.stop()
    database.close()


@pytest.fixture
def canned():
    server = Canned()
    yield server
    server.stop()


@pytest.fixture
def connect(live):
    """Connections to the service that do not wait."""

    def connect(token: str | None = live.acme, sleep=lambda _: None, url: str = live.url) -> Connection:
        return Connection(parse_address(url), Token(token, "a test") if token else None, sleep=sleep)

    return connect


@dataclass
class Home:
    """A team's repository and configuration, and the command in it."""

    root: Path
    config: Path
    run: object

    def keep_token(self, address: Address | str, token: str, mode: int = 0o600) -> Path:
        address = parse_address(address) if isinstance(address, str) else address
        path = token_file(address, {"XDG_CONFIG_HOME": str(self.config)})
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"{token}\n")
        path.chmod(mode)
        return path

    def write(self, source: str, team: str = "acme") -> None:
        folder = self.root / "submissions" / team / "scale"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "submission.py").write_text(source)


@pytest.fixture
def home(tmp_path, monkeypatch, capsys):
    root, config = tmp_path / "repository", tmp_path / "config"
    shutil.copytree(WORKSPACE, root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.delenv("HARNESS_TOKEN_FILE", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        """Return the exit code, stdout, and stderr with single blanks."""
        from harness.cli import main

        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return ended.value.code or 0, told.out, " ".join(told.err.split())

    return Home(root, config, run)
