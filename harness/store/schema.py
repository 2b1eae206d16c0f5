"""The tables, and bringing a database to this version's form.

Owns the table definitions, the revision that this version works with, and the check of the revision that a database
has. The steps from revision to revision are Alembic scripts in `migrations/versions`. A record is one JSON document;
the other columns repeat what boards and histories look up, and are never read back.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import JSON, Column, Connection, Float, Index, Integer, MetaData, String, Table, inspect, select

from harness import __version__
from harness.errors import StoreError

HEAD = "0003"
"""The newest revision in `migrations/versions`; a test compares them."""

MIGRATIONS = Path(__file__).parent / "migrations"

metadata = MetaData()

records = Table(
    "records",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("created", String(32), nullable=False),
    Column("team", String(200), nullable=False),
    Column("problem", String(200), nullable=False),
    Column("target", String(64), nullable=False),
    Column("division", String(16), nullable=False),
    Column("season", String(64), nullable=False),
    Column("setting", String(16), nullable=False),
    Column("verdict", String(40)),
    Column("standing", String(16), nullable=False),
    Column("score_us", Float),
    Column("source_sha256", String(64), nullable=False),
    Column("normalised_source_sha256", String(64), nullable=False),
    Column("program", String(64), nullable=False),
    Column("artifact_key", String(128)),
    Column("owner_pid", Integer, nullable=False),
    Column("owner_host", String(255), nullable=False),
    Column("owner_boot", String(64), nullable=False),
    Column("owner_namespace", String(64), nullable=False),
    Column("owner_start", Integer, nullable=False),
    Column("document", JSON(), nullable=False),
    Index("records_board", "problem", "target", "division", "standing", "setting", "team", "score_us", "id"),
    Index("records_team", "team", "problem", "target", "division", "id"),
    Index("records_problem", "problem", "target", "division", "id"),
    Index("records_program", "team", "program"),
    Index("records_state", "state"),
)

facts = Table(
    "store_facts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", String(200), nullable=False),
)
"""What the database says of itself: `written_by`, the newest harness version that changed its form."""

_versions = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def stored_revision(connection: Connection) -> str | None:
    """Return the revision of a database, None if it is empty.

    Raises:
        StoreError: it holds somebody else's tables.
    """
    names = set(inspect(connection).get_table_names())
    if _versions.name in names and records.name in names:
        return connection.execute(select(_versions.c.version_num)).scalar()
    if names:
        found = ", ".join(sorted(names)[:3])
        raise StoreError(f"the database holds other tables ({found}): it is not a board database")
    return None


def refuse_newer(connection: Connection, revision: str | None, place: str) -> None:
    """Raise StoreError if a revision is one that this version does not know."""
    if revision is None or revision in _known_revisions():
        return
    writer = connection.execute(select(facts.c.value).where(facts.c.name == "written_by")).scalar() or "a newer version"
    raise StoreError(
        f"the board database {place} was made by harness {writer} (revision {revision}), and this is harness "
        f"{__version__} (up to revision {HEAD}). Update the harness, or name another database"
    )


def migrate(connection: Connection) -> None:
    """Bring a database to revision HEAD, within the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
    connection.execute(facts.delete().where(facts.c.name == "written_by"))
    connection.execute(facts.insert().values(name="written_by", value=__version__))


def _known_revisions() -> set[str]:
    return {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
