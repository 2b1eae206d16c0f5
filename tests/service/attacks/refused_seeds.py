"""The seeds of a replay, tokens, and what else is secret are looked for in every answer; then reckoned from old ones.

How: every address as everybody, while a submission waits for its GPU with its build's record already stored, seeds
and all; searched for them and for tokens and their hashes. Seen: seeds that were constants, or counted up. Defence:
what a job is made of is shown when it is done; seeds are drawn anew for every replay (63 bits of the system's), so
that those of a record are worth nothing.
"""

import dataclasses

from sqlalchemy import select

from harness.service.queue import pass_on
from harness.service.schema import tokens as tokens_table
from harness.store.record import encode_record
from tests.service.event import lease, outcome
from tests.service.walking import WORDS, holds, walk

SEEDS = (7_326_145_098_234_175_001, 7_326_145_098_234_175_002)


def attack(arena):
    team, other = arena.team(), arena.team()
    name = arena.submit(team.token).json()["id"]
    held = lease(arena.database, now_s=arena.now_s())
    assert held.job.id == name
    record = outcome(held.job)
    record = dataclasses.replace(record, cases=tuple(dataclasses.replace(case, seeds=SEEDS) for case in record.cases))
    with arena.database.write() as connection:
        assert pass_on(connection, held, encode_record(record), arena.now_s())
    with arena.database.read() as connection:
        hashes = list(connection.scalars(select(tokens_table.c.secret_sha256)))
    secrets = [t.split("_", 2)[2] for t in (team.token, other.token, arena.organiser())]
    words = {**WORDS, "team": (team.name,), "record_id": (name,), "submission_id": (name,)}
    roles = {"nobody": "", "other": other.token, "own": team.token, "organiser": arena.organiser()}
    asked = 0
    for role, _, address, answer in walk(arena.live.url, arena.routes, words, roles):
        asked += 1
        text = answer.text + str(answer.headers)
        assert not [seed for seed in SEEDS if str(seed) in text], (role, address)
        assert not holds(answer, secrets), (role, address)
        assert not [one for one in hashes if one in text], (role, address)
    with arena.database.read() as connection:
        stored = connection.execute(select(tokens_table)).all()
    assert not [row for row in stored if any(secret in str(tuple(row)) for secret in secrets)], "not even stored"
    return f"{asked} answers without any"
