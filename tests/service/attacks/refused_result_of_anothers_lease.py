"""A worker hands in a result for a job that another worker has.

How: by a lease that it makes up, of another attempt, of another job, or with a record of another team, problem or
source. Seen: queues whose workers name the job that they are done with. Defence: a write names its attempt, and the
database compares; a record must be of the lease's job, field by field.
"""

import dataclasses

import pytest

from harness.errors import StoreError
from harness.service.queue import Worker
from tests.service.event import finish, hand_on, lease, outcome


def attack(arena):
    mine, other = arena.team(), arena.team()
    names = [arena.submit(team.token).json()["id"] for team in (mine, other)]
    leases = {}
    while not set(names) <= set(leases):
        held = lease(arena.database, Worker(f"worker-{len(leases)}", "build"), now_s=arena.now_s())
        leases[held.job.id] = held
    own, theirs = (leases[name] for name in names)
    fast = outcome(theirs.job, 0.001)
    for forged in (
        dataclasses.replace(theirs, attempt=theirs.attempt + 1),
        dataclasses.replace(theirs, attempt=theirs.attempt - 1),
        dataclasses.replace(own, job=theirs.job, attempt=own.attempt + 5),
    ):
        assert not finish(arena.database, forged, fast, now_s=arena.now_s())
        assert not hand_on(arena.database, forged, now_s=arena.now_s())
    for name, value in (("id", names[1]), ("team", other.name), ("problem", "x"), ("target", "h200"), ("suite", "x"),
                        ("division", "open"), ("season", "x"), ("source_sha256", "0" * 64)):  # fmt: skip
        with pytest.raises(StoreError, match="is of another"):
            finish(
                arena.database, own, dataclasses.replace(outcome(own.job, 0.001), **{name: value}), now_s=arena.now_s()
            )
    assert (arena.count_records(mine), arena.count_records(other)) == (0, 0)
    for held in leases.values():
        assert finish(arena.database, held, now_s=arena.now_s())
    return "nothing stored; the record of another job is an error"
