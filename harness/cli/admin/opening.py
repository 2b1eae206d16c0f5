"""What every verb of `harness admin` begins with: the service's database, and who is at the keyboard."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

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
def opened(*, migrate: bool = False) -> Iterator[Database]:
    """Open the service's database."""
    from harness.service.server import open_database

    database = open_database(find_settings(), migrate=migrate)
    try:
        yield database
    finally:
        database.close()


def actor() -> str:
    """Return how the log calls whoever types."""
    try:
        return f"admin {getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name
        return f"admin {os.getuid()}"
