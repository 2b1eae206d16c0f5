"""Entries of boards, each decoded once: a document is parsed again only when its entry has been written anew.

And what lists say of records that teams posted, which never change: those documents are their senders', and large.

Decoding is most of the work of showing a board. What is kept is a copy of what the database says, found by the entry's
stamp, which changes in the transaction that changes the entry; so it can be stale in no reader.
"""

from __future__ import annotations

from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Row, Select, or_, select

from harness.service.entries import BoardKey, on_board
from harness.service.schema import entries, unverified
from harness.store.record import Record, VerdictRecord, decode_record

MOST, FEW = 20_000, 20
MAX_KIND = 40
"""Characters of a verdict that a team has written."""

_ROWS = (
    select(*(column for column in entries.columns if column is not entries.c.document))
    .where(on_board(entries))
    .order_by(entries.c.record)
)

_Entry: TypeAlias = tuple[Row[Any], Record]

_posted: WeakKeyDictionary[Engine, dict[str, Record]] = WeakKeyDictionary()
_kept: WeakKeyDictionary[Engine, dict[tuple[Any, ...], Record]] = WeakKeyDictionary()


def load_entries(connection: Connection, key: BoardKey) -> list[_Entry]:
    """Return a board's entries, by the age of their records: the row without its document, and the record of it."""
    rows = connection.execute(_ROWS, key.columns).all()
    kept = _kept.setdefault(connection.engine, {})
    named = [(row, kept.get(_name(row))) for row in rows]
    found = _decode(connection, key, [row for row, record in named if record is None])
    shown: list[_Entry] = []
    for row, record in named:
        if record is not None:
            shown.append((row, record))
        elif (fresh := found.get(_place(row))) is not None:  # else it has gone since
            shown.append(fresh)
    if len(kept) + len(found) > MOST:
        kept.clear()
    kept.update({_name(row): record for row, record in found.values()})
    return shown


def load_posted(connection: Connection, query: Select[Any]) -> list[Record]:
    """Return sketches of unverified records, by a query of their ids; each document is read once."""
    kept = _posted.setdefault(connection.engine, {})
    if len(kept) > MOST:
        kept.clear()
    return [_sketch_posted(connection, kept, name) for name in list(connection.scalars(query))]


def _sketch_posted(connection: Connection, kept: dict[str, Record], name: str) -> Record:
    if (known := kept.get(name)) is not None:
        return known
    document = connection.execute(select(unverified.c.document).where(unverified.c.id == name)).scalar_one()
    record = decode_record(document)
    # No more than a list shows: the rest may be as long as its sender liked.
    bare: dict[str, Any] = {"season": "", "problem_version": "", "evaluator_version": "", "sandbox_level": ""}
    names = ("id", "state", "created", "team", "problem", "target", "division", "score_us")
    shown = {field: getattr(record, field) for field in names}
    sources: dict[str, Any] = {"source_sha256": "", "normalised_source_sha256": "", "toolchain": {}, "machine": {}}
    return kept.setdefault(name, Record(**shown, **bare, **sources, verdict=VerdictRecord(record.kind[:MAX_KIND], "")))


def _decode(connection: Connection, key: BoardKey, rows: list[Row[Any]]) -> dict[tuple[str, ...], _Entry]:
    """Return entries by their places, as they are by now: in PostgreSQL they may have changed since `rows` was read."""
    if not rows:
        return {}
    # Few have changed, or the board was not read before.
    named = or_(*(key.rows(entries, setting=row.setting, team=row.team, kind=row.kind) for row in rows))
    wanted = select(entries).where(named if len(rows) <= FEW else key.rows(entries))
    return {_place(row): (row, decode_record(row.document)) for row in connection.execute(wanted)}


def _place(row: Row[Any]) -> tuple[str, ...]:
    return (row.setting, row.team, row.kind)


def _name(row: Row[Any]) -> tuple[Any, ...]:
    return (row.problem, row.target, row.division, *_place(row), row.stamp)
