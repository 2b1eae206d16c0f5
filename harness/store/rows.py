"""A record as a row: the columns that repeat what boards and histories look up, and the document that holds everything.

For `Store`, whose every step is a transaction, and for whoever stores a record in a transaction of its own.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from sqlalchemy import Connection, insert

from harness.errors import StoreError
from harness.store.owner import this_process
from harness.store.record import Record, encode_record
from harness.store.schema import records


def record_columns(record: Record) -> dict[str, Any]:
    """Return the columns that a record determines, all but its id."""
    document = encode_record(record)
    copied = ("state", "created", "team", "problem", "target", "division", "season", "artifact_key")
    sources = ("source_sha256", "normalised_source_sha256")
    return {
        **{name: document[name] for name in copied + sources},
        "program": record.program,
        "score_us": _column_number(record.score_us),
        "setting": record.setting.key,
        "verdict": record.verdict.kind if record.verdict else None,
        "standing": standing_of(record),
        "document": document,
    }


def owner_columns() -> dict[str, Any]:
    """Return the columns that say that the calling process owns a row."""
    return {f"owner_{name}": value for name, value in dataclasses.asdict(this_process()).items()}


def standing_of(record: Record) -> str:
    """Return what boards take a record for: "ranked", or shown without a place ("accepted", "partial"), or "none".

    What is of chosen cases only ("partial") stands apart: it must not take the place of what is of all of them.
    """
    if record.scored or not record.accepted:
        return "ranked" if record.scored else "none"
    return "accepted" if record.whole_suite else "partial"


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
    values = {**record_columns(record), **owner_columns(), **({"standing": standing} if standing else {})}
    connection.execute(insert(records).values(id=record.id, **values))


def _column_number(value: float | None) -> float | None:
    """Return a number that every database orders; the record keeps what it was."""
    return value if value is not None and math.isfinite(value) else None
