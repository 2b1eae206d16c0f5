"""A result is handed in twice, the second time a better one; or a job is passed on and concluded as well.

How: by the holder of the lease itself, and by its earlier attempt. Seen: boards that took the last of several
reports. Defence: the end of a job and its record are one transaction, which needs the lease; with it the lease is
over.
"""

from harness.service.queue import release_job
from tests.service.event import finish, hand_on, lease, outcome


def attack(arena):
    team = arena.team()
    name = arena.submit(team.token).json()["id"]
    held = lease(arena.database, now_s=arena.now_s())
    while held.job.id != name:
        assert finish(arena.database, held, now_s=arena.now_s())
        held = lease(arena.database, now_s=arena.now_s())
    with arena.database.write() as connection:
        assert release_job(connection, held, arena.now_s())
    assert not finish(arena.database, held, outcome(held.job, 0.001), now_s=arena.now_s()), "given back"
    again = lease(arena.database, now_s=arena.now_s())
    assert again.job.id == name
    assert not finish(arena.database, held, outcome(held.job, 0.001), now_s=arena.now_s()), "an earlier attempt"
    assert finish(arena.database, again, outcome(again.job, 12.5), now_s=arena.now_s())
    for late in (held, again):
        assert not finish(arena.database, late, outcome(late.job, 0.001), now_s=arena.now_s())
        assert not hand_on(arena.database, late, now_s=arena.now_s())
    assert arena.get(f"/api/v1/records/{name}").json()["score_us"] == 12.5
    assert arena.count_records(team) == 1
    return "the first one stands"
