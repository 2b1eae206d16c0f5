"""A season with very many records, for `bench.service`: made in bulk, with what boards are read from beside them.

Every record is a program of its own, submitted through a job of its own. What the service would have made of them one
by one, by `entries`, is made here with its own functions for each team's best, and in one statement for the rest.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Table, insert, literal, null, select

from bench.service_season import TEAMS
from harness.service.entries import BoardKey, refresh_milestones
from harness.service.job import BUILD, DONE, iso
from harness.service.results import store_record
from harness.service.schema import firsts, jobs, programs
from harness.store.database import Database
from harness.store.ids import new_record_id
from harness.store.record import Record
from harness.store.rows import owner_columns, record_columns
from harness.store.schema import records
from tests.store.samples import passed

PROBLEMS = ("scale", "chunk_fwd_h", "chunk_fwd_o", "softmax", "rms_norm")
TARGETS = ("b200", "h200")
KEYS = tuple(BoardKey(problem, target, "closed") for problem in PROBLEMS for target in TARGETS)
START_S = 1_790_000_000
SAMPLES = 200
"""Of each benchmark of a team's best, as replay takes them."""

BATCH = 5000

_Row = tuple[Any, ...]


def fill(database: Database, count: int) -> None:
    """Put `count` ranked records into an empty database; the last of each team on each board is its best."""
    best = [(key, team) for key in KEYS for team in TEAMS]
    rows = make_rows(count - len(best), random.Random(1))
    connect = database.engine.raw_connection()
    try:
        (_copy if database.engine.dialect.name == "postgresql" else _insert)(connect, rows)
    finally:
        connect.close()
    with database.write() as connection:
        take_in(connection)
    chance = random.Random(2)
    for number, (key, team) in enumerate(best, count - len(best)):
        with database.write() as connection:
            store_record(connection, record_of(key, team, number, 100 + 50 * chance.random(), chance))
    with database.write() as connection:
        for key in KEYS:
            setting = connection.execute(select(records.c.setting).where(key.rows(records)).limit(1)).scalar_one()
            refresh_milestones(connection, key, setting)
    if database.engine.dialect.name == "postgresql":
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")


def make_rows(count: int, chance: random.Random) -> Iterator[_Row]:
    """Yield rows of `records`, in the order of its columns, documents as texts."""
    makers = [_row_maker(key) for key in KEYS]
    for number in range(count):
        team, score_us = TEAMS[chance.randrange(len(TEAMS))], 200 + 1000 * chance.random()
        yield makers[number % len(makers)](number, team, score_us)


def record_of(key: BoardKey, team: str, number: int, score_us: float, chance: random.Random | None = None) -> Record:
    """Return a record that ranks; with its samples, if there is chance to take them from."""
    sha256 = f"{number:064x}"
    place = {"problem": key.problem, "target": key.target, "division": key.division, "season": "bench"}
    named = {"source_sha256": sha256, "normalised_source_sha256": sha256, "created": iso(START_S + number)}
    record = replace(passed(team, score_us), id=new_record_id(START_S + number), **named, **place)
    if chance is None:
        return record
    cases = [replace(case, timing=_sampled(case.timing, chance)) if case.timing else case for case in record.cases]
    return replace(record, cases=tuple(cases))


def take_in(connection: Connection) -> None:
    """Make every stored record a program, first of its name, that came from a job that is done."""
    place = [records.c[name] for name in ("problem", "target", "division")]
    found = select(*place, records.c.setting, records.c.team, records.c.program, records.c.id, records.c.score_us)
    connection.execute(insert(programs).from_select([*found.selected_columns.keys()[:6], "first", "score_us"], found))
    named = select(*place, records.c.program, records.c.id, records.c.team)
    connection.execute(insert(firsts).from_select(["problem", "target", "division", "name", "record", "team"], named))
    connection.execute(insert(jobs).from_select([column.name for column in jobs.columns], _jobs_of(records)))


def _jobs_of(table: Table) -> Any:
    """Select what the jobs of records were like."""
    names = ("id", "team", "problem", "target", "division", "season", "source_sha256")
    copied = {name: table.c[name] for name in names}
    numbers = dict.fromkeys(("attempt", "faults", "interruptions"), literal(1))
    times = dict.fromkeys(("created_s", "submitted_s", "queued_s", "finished_s"), literal(float(START_S)))
    times |= {"build_s": literal(40.0), "replay_s": literal(20.0)}
    words = {"suite": literal("default"), "problem_version": literal("1"), "stage": literal(BUILD)}
    once = {"idempotency_key": table.c.id, "request_sha256": table.c.source_sha256}
    known = copied | numbers | times | words | once | {"state": literal(DONE), "verdict": table.c.verdict}
    return select(*(known.get(column.name, null()).label(column.name) for column in jobs.columns))


def _row_maker(key: BoardKey) -> Callable[[int, str, float], _Row]:
    """Return what makes a row of this board of a number, a team and a score, without a dataclass for each."""
    name, team, sha256, created, score_us = "@name@", "@team@", "@sha256@", "@created@", 987654321.5
    plain = replace(record_of(key, team, 0, score_us), id=name, created=created)
    plain = replace(plain, source_sha256=sha256, normalised_source_sha256=sha256)
    columns = {**record_columns(plain), **owner_columns(), "id": name}
    text = json.dumps(columns["document"])
    order = [column.name for column in records.columns]

    def make(number: int, own_team: str, own_us: float) -> _Row:
        now = {name: new_record_id(START_S + number), team: own_team, sha256: f"{number:064x}"}
        now[created] = iso(START_S + number)
        document = text.replace(repr(score_us), repr(own_us))
        for sign, value in now.items():
            document = document.replace(sign, value)
        row = {**columns, "score_us": own_us, "document": document}
        return tuple(now.get(row[column], row[column]) if row[column] in now else row[column] for column in order)

    return make


def _copy(connection: Any, rows: Iterator[_Row]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY records ({_names(records)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    connection.commit()


def _insert(connection: Any, rows: Iterator[_Row]) -> None:
    cursor = connection.cursor()
    for pragma in ("synchronous=OFF", "cache_size=-1000000"):
        cursor.execute(f"PRAGMA {pragma}")
    marks = ", ".join("?" * len(records.columns))
    cursor.execute("BEGIN")
    while batch := [row for _, row in zip(range(BATCH), rows, strict=False)]:
        cursor.executemany(f"INSERT INTO records ({_names(records)}) VALUES ({marks})", batch)
    cursor.execute("COMMIT")
    for pragma in ("synchronous=FULL", "cache_size=-2000"):
        cursor.execute(f"PRAGMA {pragma}")


def _names(table: Table) -> str:
    return ", ".join(column.name for column in table.columns)


def _sampled(timing: Any, chance: random.Random) -> Any:
    spans: Sequence[float] = [timing.time_us * chance.uniform(0.99, 1.03) for _ in range(SAMPLES)]
    return replace(timing, spans_us=tuple(spans))
