"""Entries of boards, each decoded once: a document is parsed again only when its entry has been written anew.

And what lists say of records that teams posted, which never change: those documents are their senders', and large.

Decoding is most of the work of showing a board. What is kept is a copy of what the database says, found by the entry's
stamp, which changes in the transaction that changes the entry; so it can be stale in no reader.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from sqlalchemy import ARRAY, Connection, Engine, Select, String, any_, bindparam, select

from harness.board.pooling import Pooled
from harness.service.entries import BoardKey, on_board
from harness.service.schema import entries, firsts, unverified
from harness.store.record import Record, VerdictRecord, decode_record

MOST, FEW = 20_000, 4
MAX_KIND = 40
"""Characters of a verdict that a team has written."""

_ROWS = (
    select(entries.c.setting, entries.c.team, entries.c.kind, entries.c.stamp)
    .where(on_board(entries))
    .order_by(entries.c.record)
)

_PLACE = ("setting", "team", "kind")
_ENTRIES = select(entries).where(on_board(entries))
_ENTRY = _ENTRIES.where(*(entries.c[name] == bindparam(name) for name in _PLACE))
_FIRSTS = select(firsts.c.name, firsts.c.team).where(on_board(firsts))
_FIRST_TEAMS = {
    "sqlite": _FIRSTS.where(firsts.c.name.in_(bindparam("names", expanding=True))),
    "postgresql": _FIRSTS.where(firsts.c.name == any_(bindparam("names", type_=ARRAY(String)))),
}
"""A list of names is one value to PostgreSQL, and so one statement."""

_Name: TypeAlias = tuple[str, str, str, int]
"""An entry of a board as it was written: its setting, team and kind, and the board's version then."""


@dataclass(frozen=True)
class Shown:
    """An entry of a board, decoded."""

    setting: str
    kind: str
    pooled: Pooled


_posted: WeakKeyDictionary[Engine, dict[str, Record]] = WeakKeyDictionary()
_first: WeakKeyDictionary[Engine, dict[BoardKey, tuple[int, dict[str, str]]]] = WeakKeyDictionary()
_kept: WeakKeyDictionary[Engine, dict[BoardKey, dict[_Name, Shown]]] = WeakKeyDictionary()


def load_entries(connection: Connection, key: BoardKey) -> list[Shown]:
    """Return a board's entries, by the age of their records."""
    rows = [tuple(row) for row in connection.execute(_ROWS, key.columns)]
    boards = _kept.setdefault(connection.engine, {})
    kept = boards.get(key, {})
    fresh = _decode(connection, key, [row for row in rows if row not in kept])
    # One that is not as it was when `rows` were read is shown as it is by now; one that has gone since is not.
    found = [(row, kept[row]) if row in kept else fresh.get(row[:3]) for row in rows]
    boards[key] = dict(filter(None, found))
    return list(boards[key].values())


def load_first_teams(connection: Connection, key: BoardKey, version: int, names: set[str]) -> Mapping[str, str]:
    """Return which team had each program, or source, first, by the hash of either.

    Args:
        connection: to read from.
        key: the board.
        version: of the board, by now: whatever changes these changes it.
        names: the hashes, the same ones for every version.
    """
    boards = _first.setdefault(connection.engine, {})
    kept = boards.get(key)
    if kept is None or kept[0] != version:
        asked = {**key.columns, "names": sorted(names)}
        rows = connection.execute(_FIRST_TEAMS[connection.dialect.name], asked)
        kept = boards[key] = (version, {row.name: row.team for row in rows})
    return kept[1]


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


def _decode(
    connection: Connection, key: BoardKey, rows: list[_Name]
) -> dict[tuple[str, str, str], tuple[_Name, Shown]]:
    """Return entries with their names, by what names have in common from version to version."""
    if len(rows) <= FEW:
        found = [connection.execute(_ENTRY, {**key.columns, **dict(zip(_PLACE, row, strict=False))}) for row in rows]
    else:
        found = [connection.execute(_ENTRIES, key.columns)]
    shown = {}
    for row in itertools.chain.from_iterable(found):
        place = (row.setting, row.team, row.kind)
        pooled = Pooled(decode_record(row.document), row.runs, row.first)
        shown[place] = (*place, row.stamp), Shown(row.setting, row.kind, pooled)
    return shown
