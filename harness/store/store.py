"""The store of records: submitted first, finished later, never lost and never changed afterwards.

Owns the life of a record (submitted -> finished, or -> interrupted when its process died) and the queries that boards
and histories need. It does not rank, compare or render.
"""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select
from sqlalchemy.exc import IntegrityError

from harness.errors import StoreError, UsageError
from harness.store.database import LOCK_TIMEOUT_S, Database
from harness.store.ids import ID_CHARACTERS, pick_id, utc_now
from harness.store.owner import Owner, is_gone
from harness.store.record import Record, decode_record
from harness.store.rows import owner_columns, record_columns
from harness.store.schema import records

FASTEST_PROGRAMS = 5
"""How many of a team's programs a board looks at: lucky runs may put a slower one first, but not behind four."""

UNREACHABLE_AFTER_S = 24 * 3600
"""How old an unfinished record gets before recovery gives up on an owner that it cannot look at."""

IDENTITY = ("team", "problem", "target", "division", "season", "source_sha256")
"""What a record is from its submission on."""


@dataclass(frozen=True)
class Previous:
    """A team's earlier records on one board: the last finished one, and the fastest that passed."""

    last: Record | None
    best: Record | None


def open_store(url: str | Path, *, migrate: bool | None = None, timeout_s: float = LOCK_TIMEOUT_S) -> Store:
    """Open the store, making the database on first use.

    Args:
        url: a SQLite file, or an SQLAlchemy URL ("postgresql+psycopg://...").
        migrate: bring an older database to this version's form; by default only an embedded (SQLite) one.
        timeout_s: how long to wait for another process that is writing.

    Raises:
        StoreError: the database is of a newer version, locked, not writable, or not a board database.
    """
    database = Database(url, timeout_s)
    embedded = database.engine.dialect.name == "sqlite"
    try:
        database.prepare(embedded if migrate is None else migrate)
    except BaseException:
        database.close()
        raise
    return Store(database)


class Store:
    """The records of one database. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database's connections."""
        self._database.close()

    def submit(self, record: Record) -> None:
        """Store a record that is about to be evaluated; this process owns it until it is finished."""
        if record.state != "submitted":
            raise StoreError(f"record {record.id} is {record.state}: only a submitted one can be stored first")
        try:
            with self._database.write() as connection:
                connection.execute(records.insert().values(id=record.id, **record_columns(record), **owner_columns()))
        except StoreError as error:
            if isinstance(error.__cause__, IntegrityError):
                raise StoreError(f"record {record.id} is stored already") from None
            raise

    def finish(self, record: Record) -> None:
        """Store a record's outcome. It replaces the submitted (or interrupted) row, and is final.

        Whose it is, and of what, was said when it was submitted, and cannot be changed by its outcome.
        """
        if record.state != "finished" or record.verdict is None:
            raise StoreError(f"record {record.id} has no verdict yet: it cannot be finished")
        record = record if record.finished else dataclasses.replace(record, finished=utc_now())
        with self._database.write() as connection:
            same = _equal(**{name: getattr(record, name) for name in IDENTITY})
            unfinished = and_(records.c.id == record.id, records.c.state != "finished", *same)
            if connection.execute(records.update().where(unfinished).values(**record_columns(record))).rowcount != 1:
                told = "was never submitted, or is finished already, or was submitted as another's"
                raise StoreError(f"record {record.id} {told}")

    def interrupt(self, record: Record) -> None:
        """Mark a submitted record of this process as interrupted: its owner stopped it."""
        stopped = _interrupted(record)
        with self._database.write() as connection:
            unfinished = and_(records.c.id == record.id, records.c.state == "submitted")
            connection.execute(records.update().where(unfinished).values(**record_columns(stopped)))

    def recover(self) -> list[Record]:
        """Mark what died unfinished as interrupted, and return those records. A living process's is left alone."""
        unfinished = select(records).where(records.c.state == "submitted").order_by(records.c.id)
        with self._database.read() as connection:
            if not any(_is_abandoned(row) for row in connection.execute(unfinished)):
                return []
        with self._database.write() as connection:
            found = [
                _interrupted(decode_record(r.document)) for r in connection.execute(unfinished) if _is_abandoned(r)
            ]
            for record in found:
                connection.execute(records.update().where(records.c.id == record.id).values(**record_columns(record)))
        return found

    def record(self, prefix: str) -> Record:
        """Return the record whose id begins with `prefix`.

        Raises:
            UsageError: none or several do; the message lists some.
        """
        prefix = prefix.strip().lower()
        newest = select(records.c.id).order_by(records.c.id.desc())
        with self._database.read() as connection:
            if not prefix or not ID_CHARACTERS.issuperset(prefix):
                raise UsageError(f"{prefix[:40]!r} is not a record's id. {_suggest(connection, prefix)}")
            matching = newest.where(records.c.id.startswith(prefix)).limit(6)
            ids = [prefix] if _exists(connection, prefix) else list(connection.scalars(matching))
            found = pick_id(prefix, ids)
            if found is None:
                raise UsageError(f"there is no record {prefix[:40]!r}. {_suggest(connection, prefix)}")
            return _load(connection, select(records.c.document).where(records.c.id == found))[0]

    def records(
        self,
        *,
        problem: str | None = None,
        team: str | None = None,
        target: str | None = None,
        division: str | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """Return records of every state, the newest first; each argument given narrows them."""
        wanted = _equal(problem=problem, team=team, target=target, division=division)
        query = select(records.c.document).where(*wanted).order_by(records.c.id.desc()).limit(limit)
        with self._database.read() as connection:
            return _load(connection, query)

    def board(self, problem: str, target: str, division: str) -> list[Record]:
        """Return what a board is made of.

        For every team and setting: the ranked records of its fastest programs, every run of each, and its newest
        accepted record that is not ranked, one of all cases and one of chosen ones. Settings are not filtered: `board`
        decides which one counts and shows the others apart.
        """
        board = _equal(problem=problem, target=target, division=division)
        fastest = _runs_of_fastest_programs(board)
        newest = [_first_of_each_team(standing, (records.c.id.desc(),), board) for standing in ("accepted", "partial")]
        query = select(records.c.document).where(or_(*(records.c.id.in_(ids) for ids in (fastest, *newest))))
        with self._database.read() as connection:
            return _load(connection, query.order_by(records.c.id))

    def boards(self) -> list[tuple[str, str, str]]:
        """Return the (problem, target, division) of every board that has a record, sorted."""
        board = (records.c.problem, records.c.target, records.c.division)
        with self._database.read() as connection:
            return sorted((p, t, d) for p, t, d in connection.execute(select(*board).distinct()))

    def previous(self, record: Record) -> Previous:
        """Return, of the same team and board, the last record that finished before one, and the fastest PASSED one.

        Times of other settings are not comparable, so the fastest is one of the record's own. A ranked one comes before
        others, and one of all cases before one of chosen ones.
        """
        board = {"problem": record.problem, "target": record.target, "division": record.division}
        wanted = [*_equal(team=record.team, **board, state="finished"), records.c.id < record.id]
        query = select(records.c.document).where(*wanted).limit(1)
        comparable = (records.c.verdict == "PASSED", records.c.setting == record.setting.key)
        timed = query.where(*comparable, records.c.score_us.is_not(None))
        order = ((records.c.standing == "ranked").desc(), records.c.standing == "partial")
        with self._database.read() as connection:
            last = _load(connection, query.order_by(records.c.id.desc()))
            best = _load(connection, timed.order_by(*order, records.c.score_us, records.c.id))
        return Previous(last[0] if last else None, best[0] if best else None)


def _is_abandoned(row: Row[Any]) -> bool:
    gone = is_gone(Owner(row.owner_pid, row.owner_host, row.owner_boot, row.owner_namespace, row.owner_start))
    return _age_s(row.created) > UNREACHABLE_AFTER_S if gone is None else gone


def _age_s(created: str) -> float:
    try:
        return (datetime.now(timezone.utc) - datetime.fromisoformat(created.replace("Z", "+00:00"))).total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _interrupted(record: Record) -> Record:
    # Without a verdict: whoever stops what he submitted has met no fault, neither ours nor his own.
    return dataclasses.replace(record, state="interrupted", finished=utc_now(), verdict=None)


def _equal(**values: str | None) -> list[ColumnElement[bool]]:
    return [records.c[name] == value for name, value in values.items() if value is not None]


def _runs_of_fastest_programs(board: list[ColumnElement[bool]]) -> Select[tuple[str]]:
    """Select every run of each team's fastest programs, by their luckiest runs: a board pools and compares them."""
    ranked = [*board, records.c.standing == "ranked"]
    program = (records.c.setting, records.c.team, records.c.program)
    best = select(*program, func.min(records.c.score_us).label("best_us")).where(*ranked).group_by(*program).subquery()
    order = (best.c.best_us, best.c.program)
    place = func.row_number().over(partition_by=(best.c.setting, best.c.team), order_by=order)
    placed = select(best, place.label("place")).subquery()
    same = and_(*(column == placed.c[column.name] for column in program))
    return select(records.c.id).join(placed, same).where(*ranked, placed.c.place <= FASTEST_PROGRAMS)


def _first_of_each_team(standing: str, order: tuple[Any, ...], board: list[ColumnElement[bool]]) -> Select[tuple[str]]:
    place = func.row_number().over(partition_by=(records.c.setting, records.c.team), order_by=order)
    placed = select(records.c.id, place.label("place")).where(*board, records.c.standing == standing).subquery()
    return select(placed.c.id).where(placed.c.place == 1)


def _load(connection: Connection, query: Select[Any]) -> list[Record]:
    return [decode_record(document) for document in connection.scalars(query)]


def _exists(connection: Connection, record_id: str) -> bool:
    return connection.execute(select(records.c.id).where(records.c.id == record_id)).first() is not None


def _suggest(connection: Connection, prefix: str) -> str:
    newest = list(connection.scalars(select(records.c.id).order_by(records.c.id.desc()).limit(200)))
    if not newest:
        return "No record is stored yet: `make submit PROBLEM=...` makes one"
    near = difflib.get_close_matches(prefix, newest, n=2, cutoff=0.7)
    return f"Did you mean {' or '.join(near)}?" if near else f"The newest is {newest[0]}"
