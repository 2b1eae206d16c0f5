"""What form a database must have to be served: checked at start, and brought about by `harness admin migrate`.

The steps from revision to revision are Alembic scripts in `migrations/versions`, with a version table of their own
beside the store's, so that a database of local records has nothing of the service's.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select

from harness.errors import StoreError
from harness.store import schema as store_schema
from harness.store.database import Database

HEAD = "0001"
"""The newest revision in `migrations/versions`; a test compares them."""

MIGRATIONS = Path(__file__).parent / "migrations"
VERSIONS = "service_version"


def prepare(database: Database, *, migrate: bool) -> None:
    """Check that a database can be served; bring it to this version's form if allowed.

    Raises:
        StoreError: it is not of this version's form; the message says the command.
    """
    with database.read() as connection:
        names = set(inspect(connection).get_table_names())
        revision = stored_revision(connection) if VERSIONS in names else None
        of_records = store_schema.stored_revision(connection)
        store_schema.refuse_newer(connection, of_records, database.place)
    if revision is not None and revision not in _known_revisions():
        raise StoreError(
            f"the service's database {database.place} has revision {revision}, this version knows {HEAD}: update"
        )
    # A SQLite file that was made just now holds nothing that a migration could hurt.
    if not migrate and (names or database.engine.dialect.name != "sqlite"):
        _refuse_older(database, revision, HEAD)
        _refuse_older(database, of_records, store_schema.HEAD)
        return
    database.prepare(migrate=True)
    with database.write() as connection:
        _upgrade(connection)


def stored_revision(connection: Connection) -> str | None:
    """Return the revision of the service's tables."""
    versions = Table(VERSIONS, MetaData(), Column("version_num", String(32)))
    return connection.execute(select(versions.c.version_num)).scalar()


def _refuse_older(database: Database, revision: str | None, needed: str) -> None:
    if revision != needed:
        state = f"at revision {revision}" if revision else "not set up"
        raise StoreError(
            f"the service's database {database.place} is {state}, and this version needs {needed}: "
            "run `harness admin migrate`, then start again"
        )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)


def _known_revisions() -> set[str]:
    return {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
