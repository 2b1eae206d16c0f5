"""What boards are read from: kept up to date in the transaction that stores a record, so that no page scans records.

The rules are `board`'s: what is one program (`pooling`), which setting counts and who leads (`ranking`). Here their
answers are kept: each program's pooled score, each team's best program and newest record without a place, who had a
program first, and the moments when a board had a new leader. A row of `boards` is locked first, so that two records of
one board are never taken in at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, delete, func, insert, or_, select, update

from harness.board.concealing import conceal
from harness.board.pooling import Pooled, pool_runs
from harness.service.schema import boards, disqualified, entries, firsts, milestones, programs
from harness.service.upsert import insert_missing, upsert
from harness.store.codec import encode
from harness.store.record import RANKING_SUITE, CaseRecord, Record, decode_record, encode_record
from harness.store.schema import records

RANKED, UNRANKED = "ranked", "unranked"
DISQUALIFIED = "disqualified"
"""The standing, in the table of records, of what organisers have ruled out."""
ALL_PROGRAMS = ""
"""What `disqualified` has for everything of a team."""

LEAST = -1
"""The rank of a setting that only what is ruled out has: it counts on a board that nothing else stands on."""

NOTHING = LEAST - 1
"""Below every rank: where it is asked anew which setting counts."""


@dataclass(frozen=True)
class BoardKey:
    """Which board."""

    problem: str
    target: str
    division: str

    @property
    def columns(self) -> dict[str, str]:
        """The columns that name a board, in every table that has them."""
        return vars(self).copy()

    def rows(self, table: Table, **more: str) -> ColumnElement[bool]:
        """Return the condition of a table's rows of this board."""
        return and_(*(table.c[name] == value for name, value in {**self.columns, **more}.items()))


def on_board(table: Table) -> ColumnElement[bool]:
    """Return the condition of a table's rows of a board that is named when it is asked: with `BoardKey.columns`.

    For the queries of every page: a statement that is made once costs a fraction of one that is made each time.
    """
    return and_(*(table.c[name] == bindparam(name) for name in BoardKey.__dataclass_fields__))


def board_of(record: Record) -> BoardKey:
    """Return the board that a record belongs to."""
    return BoardKey(record.problem, record.target, record.division)


def find_ruling(connection: Connection, team: str, program: str) -> str | None:
    """Return why organisers have ruled a team's program, or else all of the team's, out; None if they have not."""
    ruled = and_(disqualified.c.team == team, disqualified.c.program.in_([program, ALL_PROGRAMS]))
    # The empty program, which stands for all of them, sorts last.
    reasons = select(disqualified.c.reason).where(ruled).order_by(disqualified.c.program.desc()).limit(1)
    return connection.execute(reasons).scalar()


def add_record(connection: Connection, record: Record) -> None:
    """Take a record in that has just been stored. What no board shows changes nothing.

    One that is ruled out has no place; who had its program first is still of interest, and it may be reinstated.
    """
    if not record.accepted:
        return
    board, out = board_of(record), find_ruling(connection, record.team, record.program) is not None
    _touch(connection, board, record, LEAST if out else _rank_of(record))
    for name in dict.fromkeys((record.program, record.normalised_source_sha256)):
        _note_first(connection, board, name, record)
    if out:
        return
    if record.scored:
        _note_milestone(connection, board, record)
        refresh_programs(connection, board, record.setting.key, record.team, [record.program])
    else:
        _note_unranked(connection, board, record)


def lock_board(connection: Connection, board: BoardKey) -> None:
    """Let nobody else change a board until this transaction ends, and say that it may look different then."""
    connection.execute(update(boards).where(board.rows(boards)).values(version=boards.c.version + 1))


def refresh_programs(connection: Connection, board: BoardKey, setting: str, team: str, names: Iterable[str]) -> None:
    """Pool the ranked runs of some programs of a team anew, then find its best program."""
    found: dict[str, Pooled] = {}
    for name in names:
        pooled = _pool(connection, board, setting=setting, team=team, program=name)
        keys = {"setting": setting, "team": team, "program": name}
        if pooled is None:
            connection.execute(delete(programs).where(board.rows(programs, **keys)))
        else:
            values = {"first": pooled.first, "score_us": pooled.score_us}
            upsert(connection, programs, {**board.columns, **keys}, values)
            found[name] = pooled
    mine = board.rows(programs, setting=setting, team=team)
    # The order in which `ranking` prefers a team's programs: the fastest, and of equal ones the older.
    best = select(programs.c.program).where(mine).order_by(programs.c.score_us, programs.c.first).limit(1)
    fastest = connection.execute(best).scalar()
    if fastest is None:
        connection.execute(delete(entries).where(board.rows(entries, setting=setting, team=team, kind=RANKED)))
        return
    chosen = found.get(fastest) or _pool(connection, board, setting=setting, team=team, program=fastest)
    assert chosen is not None  # the rows of its runs say that they are ranked, and this transaction has the board
    _enter(connection, board, RANKED, chosen.record, first=chosen.first, runs=chosen.runs)


def refresh_unranked(connection: Connection, board: BoardKey, setting: str, team: str) -> None:
    """Find a team's newest accepted record without a place anew."""
    connection.execute(delete(entries).where(board.rows(entries, setting=setting, team=team, kind=UNRANKED)))
    mine = board.rows(records, setting=setting, team=team, standing="accepted")
    newest = select(records.c.document).where(mine).order_by(records.c.id.desc()).limit(1)
    if (document := connection.execute(newest).scalar()) is not None:
        _note_unranked(connection, board, decode_record(document))


def refresh_milestones(connection: Connection, board: BoardKey, setting: str) -> None:
    """Go through a board's ranked records anew: which of them were its fastest when they came?"""
    connection.execute(delete(milestones).where(board.rows(milestones, setting=setting)))
    ranked = board.rows(records, setting=setting, standing="ranked")
    columns = (records.c.id, records.c.team, records.c.created, records.c.score_us)
    best_us = None
    for row in list(connection.execute(select(*columns).where(ranked).order_by(records.c.id))):
        if best_us is None or row.score_us < best_us:
            best_us = row.score_us
            values = {"record": row.id, "team": row.team, "created": row.created, "score_us": row.score_us}
            connection.execute(insert(milestones).values(**board.columns, setting=setting, **values))


def condense(record: Record) -> Record:
    """Return what a board's row needs of a record: its times, without samples, errors, kernels or anybody's code."""
    hidden = conceal(record)
    verdict = replace(hidden.verdict, details={}, traceback=()) if hidden.verdict else None
    timed = tuple(_condense_case(case) for case in hidden.cases if case.timing)
    bare: dict[str, Any] = {"kernels": (), "stages": (), "build": None, "warnings": (), "machine": {}}
    return replace(hidden, verdict=verdict, cases=timed, **bare)


def _condense_case(case: CaseRecord) -> CaseRecord:
    assert case.timing is not None
    timing = replace(case.timing, spans_us=(), clocks={})
    return replace(case, errors=(), seeds=(), seconds=None, message="", timing=timing)


def _pool(connection: Connection, board: BoardKey, *, setting: str, team: str, program: str) -> Pooled | None:
    """Pool the ranked runs of a program; they are found by its name, for a team has few of those and many records."""
    same = (records.c.team == team, records.c.program == program)
    place = (records.c.problem, records.c.target, records.c.division, records.c.setting, records.c.standing)
    wanted = (*board.columns.values(), setting, "ranked")
    rows = connection.execute(select(records.c.id, *place).where(*same)).all()
    runs = [row.id for row in rows if tuple(row)[1:] == wanted]
    if not runs:
        return None
    documents = connection.scalars(select(records.c.document).where(records.c.id.in_(runs)))
    return pool_runs(decode_record(document) for document in documents)[0]


def refresh_setting(connection: Connection, board: BoardKey) -> None:
    """Find anew which setting counts on a board that is locked: what has been ruled out since makes none count.

    The rank of a setting is that of a record of it, and of its standing; so the newest record of each is enough.
    """
    connection.execute(update(boards).where(board.rows(boards)).values(setting_rank=NOTHING))
    shown = and_(board.rows(records), records.c.standing.in_(["ranked", "accepted", DISQUALIFIED]))
    newest = select(func.max(records.c.id)).where(shown).group_by(records.c.standing, records.c.setting)
    rows = connection.execute(select(records.c.standing, records.c.document).where(records.c.id.in_(newest))).all()
    for row in rows:
        record = decode_record(row.document)
        rank = LEAST if row.standing == DISQUALIFIED else _rank_of(record)
        _choose(connection, board, _setting_columns(record, rank))


def _touch(connection: Connection, board: BoardKey, record: Record, rank: int) -> None:
    """Lock a board, and let the record's setting be the one that counts if its rank is the highest."""
    chosen = _setting_columns(record, rank)
    if insert_missing(connection, boards, board.columns, {**chosen, "version": 1}):
        return
    lock_board(connection, board)
    _choose(connection, board, chosen)


def _rank_of(record: Record) -> int:
    """Records of the suite that ranks come before others, ranked ones before others, then the newest decides."""
    return 2 * (record.suite == RANKING_SUITE) + record.scored


def _setting_columns(record: Record, rank: int) -> dict[str, Any]:
    setting = {"setting": record.setting.key, "setting_document": encode(record.setting)}
    return {**setting, "setting_rank": rank, "newest": record.id}


def _choose(connection: Connection, board: BoardKey, chosen: dict[str, Any]) -> None:
    rank = chosen["setting_rank"]
    newer = and_(boards.c.setting_rank == rank, boards.c.newest < chosen["newest"])
    better = and_(board.rows(boards), or_(boards.c.setting_rank < rank, newer))
    connection.execute(update(boards).where(better).values(**chosen))


def _note_first(connection: Connection, board: BoardKey, name: str, record: Record) -> None:
    values = {"record": record.id, "team": record.team}
    if not insert_missing(connection, firsts, {**board.columns, "name": name}, values):
        later = and_(board.rows(firsts, name=name), firsts.c.record > record.id)
        connection.execute(update(firsts).where(later).values(**values))


def _note_milestone(connection: Connection, board: BoardKey, record: Record) -> None:
    """Keep a record that is faster than all before it; what finishes out of turn may make later ones none."""
    setting = record.setting.key
    mine = board.rows(milestones, setting=setting)
    before = select(func.min(milestones.c.score_us)).where(mine, milestones.c.record < record.id)
    best_us = connection.execute(before).scalar()
    assert record.score_us is not None
    if best_us is not None and best_us <= record.score_us:
        return
    passed = and_(mine, milestones.c.record > record.id, milestones.c.score_us >= record.score_us)
    connection.execute(delete(milestones).where(passed))
    row = {"record": record.id, "team": record.team, "created": record.created, "score_us": record.score_us}
    connection.execute(insert(milestones).values(**board.columns, setting=setting, **row))


def _note_unranked(connection: Connection, board: BoardKey, record: Record) -> None:
    mine = board.rows(entries, setting=record.setting.key, team=record.team, kind=UNRANKED)
    newest = connection.execute(select(entries.c.record).where(mine)).scalar()
    if newest is None or newest < record.id:
        _enter(connection, board, UNRANKED, record, first=record.id, runs=1)


def _enter(connection: Connection, board: BoardKey, kind: str, record: Record, *, first: str, runs: int) -> None:
    keys = {**board.columns, "setting": record.setting.key, "team": record.team, "kind": kind}
    version = select(boards.c.version).where(board.rows(boards)).scalar_subquery()
    values = {"record": record.id, "first": first, "runs": runs, "stamp": version}
    upsert(connection, entries, keys, {**values, "document": encode_record(condense(record))})
