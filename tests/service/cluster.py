"""A PostgreSQL of its own for tests and measurements: in a temporary folder, on a Unix socket, ended with its user."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

ENOUGH_S = 60.0


def find_binaries() -> Path | None:
    """Return the folder of PostgreSQL's programs, None where it is not installed."""
    here = shutil.which("initdb")
    folders = [Path(here).parent] if here else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


class Cluster:
    """A running PostgreSQL.

    With `durable=False` commits do not wait for the disk: a test's databases need not survive a power cut.
    """

    def __init__(self, *, durable: bool = False) -> None:
        binaries = find_binaries()
        assert binaries is not None
        self.folder = Path(tempfile.mkdtemp(prefix="harness-pg-"))
        self._numbers = itertools.count()
        # PostgreSQL refuses to run as root.
        root = os.getuid() == 0
        user = pwd.getpwnam("postgres") if root else pwd.getpwuid(os.getuid())
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if root else []
        become = ["setpriv", *ids, "--pdeathsig=QUIT"]
        data = self.folder / "data"
        initdb = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([*become, *initdb], check=True, capture_output=True, cwd=self.folder)
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "max_connections": "150"}
        if not durable:
            settings |= {"fsync": "off", "full_page_writes": "off"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._log = (self.folder / "log").open("wb")
        command = [*become, binaries / "postgres", "-D", data, *options]
        self._server = subprocess.Popen(command, cwd=self.folder, stdout=self._log, stderr=self._log)
        self._wait()

    def url(self, name: str) -> str:
        """Return the URL of a database by its name."""
        return f"postgresql+psycopg://postgres@/{name}?host={self.folder}"

    def make_database(self, template: str = "template1") -> str:
        """Make a database and return its name."""
        name = f"t{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def execute(self, statement: str) -> None:
        """Run a statement outside of any of the databases made."""
        with psycopg.connect(f"host={self.folder} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute(statement)

    def ask(self, query: str) -> str:
        """Return the one value of a query."""
        with psycopg.connect(f"host={self.folder} user=postgres dbname=postgres", autocommit=True) as connection:
            row = connection.execute(query).fetchone()
        assert row is not None
        return str(row[0])

    @property
    def pid(self) -> int:
        """The process that all the others are children of."""
        return self._server.pid

    def stop(self) -> None:
        """End it and remove everything."""
        self._server.terminate()
        try:
            self._server.wait(20)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + ENOUGH_S
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError as error:
                if self._server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text(errors="replace")) from error
                time.sleep(0.05)
