"""What every verb of `harness admin` begins with: the service's database, and who is at the keyboard."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.service.settings import Settings
    from harness.store.database import Database

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def find_settings() -> Settings:
    """Return the settings of the repository that one is in."""
    from harness.engine.workspace import find_workspace
    from harness.service.settings import load_settings

    workspace = find_workspace(Path.cwd())
    return load_settings(workspace.root, workspace.database.parent, os.environ)


@contextmanager
def opened(*, migrate: bool = False, makes: bool = True) -> Iterator[Database]:
    """Open the service's database.

    Args:
        migrate: bring it to this version's form.
        makes: a SQLite file that is not there is made: not by what only reads.

    Raises:
        UsageError: there is none, and none is made.
    """
    from harness.service.server import open_database

    settings = find_settings()
    if not makes and (path := sqlite_path(settings.database_url)) is not None and not path.exists():
        told = f"there is no database {path} yet: make serve makes it, harness admin team add too"
        raise UsageError(f"{told}. If you have one: is this the right folder, and HARNESS_DATABASE_URL?")
    database = open_database(settings, migrate=migrate)
    try:
        yield database
    finally:
        database.close()


def sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite database, None of another."""
    scheme, _, path = url.partition(":///")
    return Path(path) if scheme.startswith("sqlite") and path.startswith("/") else None


def actor() -> str:
    """Return how the log calls whoever types."""
    try:
        return f"admin {getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name
        return f"admin {os.getuid()}"
