"""Insert or update in one statement, which both databases spell alike and SQLAlchemy has in two places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert


def upsert(connection: Connection, table: Table, keys: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Give the row with these primary keys these values, making it if it is not there."""
    statement = _insert(connection, table).values(**keys, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=list(keys), set_=dict(values)))


def insert_missing(connection: Connection, table: Table, keys: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with these keys is there; return whether it was inserted."""
    statement = _insert(connection, table).values(**keys, **values).on_conflict_do_nothing(index_elements=list(keys))
    # What is returned tells; not every driver counts the rows of such a statement.
    return connection.execute(statement.returning(*table.primary_key.columns)).first() is not None


def insert_all_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, without those whose keys are there."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), [dict(row) for row in rows])


def _insert(connection: Connection, table: Table) -> Any:
    # Typed as Any: the two statements share their methods and no base class that has them.
    return (postgresql_insert if connection.dialect.name == "postgresql" else sqlite_insert)(table)
