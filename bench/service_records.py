"""A season with very many records, for `bench.service`: made in bulk, with what boards are read from beside them.

Every record is a program of its own. What the service would have made of them one by one, by `entries`, is made here
with its own functions for each team's best, and in one statement for the rest.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, func, insert, select

from harness.service.entries import BoardKey, refresh_milestones
from harness.service.results import store_record
from harness.service.schema import programs
from harness.store.database import Database
from harness.store.ids import new_record_id
from harness.store.record import Record
from harness.store.rows import owner_columns, record_columns
from harness.store.schema import records
from tests.store.samples import passed

PROBLEMS = ("scale", "chunk_fwd_h", "chunk_fwd_o", "softmax", "rms_norm")
TARGETS = ("b200", "h200")
TEAMS = 40
BATCH = 2000
START_S = 1_790_000_000


def fill(database: Database, count: int) -> None:
    """Put `count` ranked records into an empty database; the last of each team on each board is its best."""
    chance = random.Random(1)
    keys = [BoardKey(problem, target, "closed") for problem in PROBLEMS for target in TARGETS]
    best = [(key, f"team-{i:02}") for key in keys for i in range(TEAMS)]
    rows = make_rows(count - len(best), keys, chance)
    while batch := [row for _, row in zip(range(BATCH), rows, strict=False)]:
        with database.write() as connection:
            connection.execute(insert(records), batch)
    with database.write() as connection:
        take_in(connection)
        for number, (key, team) in enumerate(best):
            store_record(connection, record_of(key, team, count + number, 100 + 50 * chance.random()))
        for key in keys:
            setting = connection.execute(select(records.c.setting).where(key.rows(records)).limit(1)).scalar_one()
            refresh_milestones(connection, key, setting)
    if database.engine.dialect.name == "postgresql":
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE")


def make_rows(count: int, keys: list[BoardKey], chance: random.Random) -> Iterator[dict[str, Any]]:
    owner = owner_columns()
    plain = {key: record_columns(record_of(key, "team-00", 0, 1000.0)) for key in keys}
    for number in range(count):
        key, team = keys[number % len(keys)], f"team-{chance.randrange(TEAMS):02}"
        score_us, sha256 = 200 + 1000 * chance.random(), f"{number:064x}"
        name = new_record_id(START_S + number)
        document = {**plain[key]["document"], "id": name, "team": team, "score_us": score_us}
        document |= {"source_sha256": sha256, "normalised_source_sha256": sha256}
        named = {"id": name, "team": team, "score_us": score_us, "program": sha256, "document": document}
        yield {**plain[key], **owner, **named, "source_sha256": sha256, "normalised_source_sha256": sha256}


def record_of(key: BoardKey, team: str, number: int, score_us: float) -> Record:
    sha256 = f"{number:064x}"
    place = {"problem": key.problem, "target": key.target, "division": key.division, "season": "bench"}
    record = passed(team, score_us)
    return replace(
        record, id=new_record_id(START_S + number), source_sha256=sha256, normalised_source_sha256=sha256, **place
    )


def take_in(connection: Connection) -> None:
    """Make every stored record a program, as `entries` would have."""
    place = (records.c.problem, records.c.target, records.c.division, records.c.setting, records.c.team)
    found = select(*place, records.c.program, func.min(records.c.id), func.min(records.c.score_us))
    grouped = found.group_by(*place, records.c.program)
    names = ["problem", "target", "division", "setting", "team", "program", "first", "score_us"]
    connection.execute(insert(programs).from_select(names, grouped))
