"""How a database is reached: its URL, its transactions, its form.

Owns engines and connections; what is stored is `store`'s. SQLite is the embedded default: it is made on first use,
readable for its owner only because it holds teams' code, and migrated without being asked. Another database is
checked, and migrated only on request, because other processes may be using it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from harness.errors import StoreError, UsageError
from harness.store import schema
from harness.store.failures import explained

LOCK_TIMEOUT_S = 15.0
"""How long a transaction waits for one that changes the same."""

CONNECTIONS = 15
"""As many are open at a time; who needs one more waits."""


class Database:
    """A database of this version's form.

    Attributes:
        place: how it is named to people: a path, or a URL without its password.
    """

    def __init__(self, url: str | Path, timeout_s: float, connections: int = CONNECTIONS) -> None:
        self.engine, self.place = _make_engine(url, timeout_s, connections)
        self._timeout_s = timeout_s

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction all of whose queries see the same state, however long it takes; it changes nothing."""
        with self._explained(), self.engine.connect() as connection:
            if connection.dialect.name != "sqlite":  # whose every transaction is like that
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that holds the write lock from its start, and is on the disk when it ends."""
        with self._explained(), self.engine.connect() as connection:
            connection = connection.execution_options(harness_writes=True)
            with connection.begin():
                yield connection

    def prepare(self, migrate: bool) -> None:
        """Check the database's form; bring it to this version's if allowed.

        Raises:
            StoreError: it is of a newer version, or of an older one (or empty) and `migrate` is false.
        """
        with self.read() as connection:
            revision = schema.stored_revision(connection)
            schema.refuse_newer(connection, revision, self.place)
        if revision == schema.HEAD:
            return
        if not migrate:
            raise StoreError(f"the board database {self.place} is not of this version's form: migrate it first")
        with self.write() as connection:
            # Another process may have migrated it while this one waited for the lock.
            if schema.stored_revision(connection) != schema.HEAD:
                schema.migrate(connection)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _explained(self) -> Any:
        return explained(self.place, self._timeout_s)


def _make_engine(url: str | Path, timeout_s: float, connections: int) -> tuple[Engine, str]:
    parsed = _parse_url(url)
    embedded = parsed.get_backend_name() == "sqlite"
    try:
        wait = {"timeout": timeout_s} if embedded else {}
        # Kept open, all of them: opening one costs more than most of what is asked of it.
        pool = {"pool_size": connections, "max_overflow": 0} if parsed.database else {}
        engine = create_engine(parsed, connect_args=wait, **pool)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise UsageError(f"the database URL cannot be used: {error}") from None
    if not embedded:
        return engine, parsed.render_as_string(hide_password=True)
    _make_private(engine, parsed.database or "")
    _take_over_sqlite_transactions(engine)
    return engine, parsed.database or "in memory"


def _parse_url(url: str | Path) -> URL:
    if isinstance(url, str) and "://" in url:
        try:
            parsed = make_url(url)
        except ArgumentError as error:
            raise UsageError(f"the database URL cannot be used: {error}") from None
        if (kind := parsed.get_backend_name()) not in ("sqlite", "postgresql"):
            works = "sqlite:////PATH or postgresql://USER:PASSWORD@HOST/NAME"
            raise UsageError(f"the database URL cannot be used: it names {kind}; what works is {works}")
        return parsed
    path = Path(url).absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder of the board database {path} cannot be made: {error.strerror}") from error
    return URL.create("sqlite", database=str(path))


def _make_private(engine: Engine, path: str) -> None:
    """Make a file that is not there for its owner only; SQLite gives those beside it (-wal, -shm) the same mode."""

    @event.listens_for(engine, "do_connect")
    def make(*_: Any) -> None:
        if path.startswith("/"):
            with suppress(OSError):  # it is there already, or cannot be made: connecting says why
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _take_over_sqlite_transactions(engine: Engine) -> None:
    """Let our own BEGIN rule: the driver's comes too late, and never asks for the write lock first."""

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        # WAL lets boards be read during a submission; FULL means that what was accepted survives a power cut.
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("harness_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
