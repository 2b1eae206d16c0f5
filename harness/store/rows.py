"""Records as rows, for whoever stores them in a transaction of its own; `Store` has transactions of one step."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert

from harness.errors import StoreError
from harness.store.record import Record
from harness.store.schema import records
from harness.store.store import _columns, _owner_columns


def insert_finished(connection: Connection, record: Record, *, standing: str | None = None) -> None:
    """Store a record that was never seen unfinished.

    Args:
        connection: a writing one.
        record: with its verdict.
        standing: what boards take it for, where that is not what it says itself.

    Raises:
        StoreError: it has no verdict.
    """
    if record.state != "finished" or record.verdict is None:
        raise StoreError(f"record {record.id} has no verdict yet: it cannot be stored as finished")
    values: dict[str, Any] = {**_columns(record), **_owner_columns()}
    connection.execute(insert(records).values(id=record.id, **values | ({"standing": standing} if standing else {})))


def standing_of(record: Record) -> str:
    """Return what boards take a record for: "ranked", "accepted" or "none"."""
    return str(_columns(record)["standing"])
