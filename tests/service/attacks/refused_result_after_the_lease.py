"""A result comes after the lease has ended: by silence, by the stage's time, or because the job was given to another.

How: at the moment of the end and later, with renewals tried in between. Seen: workers that were believed lost and
came back. Defence: every write compares the lease's end with the server's time; the stage's time bounds all renewals.
"""

from harness.service.queue import Worker, renew_lease
from harness.service.recovery import recover
from tests.service.arena import LIMITS
from tests.service.event import finish, lease, outcome


def attack(arena):
    team = arena.team()
    name = arena.submit(team.token).json()["id"]
    start_s = arena.now_s()
    held = lease(arena.database, now_s=start_s, limits=LIMITS)
    while held.job.id != name:
        assert finish(arena.database, held, now_s=start_s)
        held = lease(arena.database, now_s=start_s, limits=LIMITS)
    over_s = start_s + LIMITS.lease_s
    assert not finish(arena.database, held, outcome(held.job, 0.001), now_s=over_s)
    with arena.database.write() as connection:
        assert not renew_lease(connection, held, LIMITS, over_s, None)
        assert name in recover(connection, LIMITS, over_s).requeued
    second = lease(arena.database, Worker("second", "build"), now_s=over_s, limits=LIMITS)
    assert second.job.id == name
    assert not finish(arena.database, held, outcome(held.job, 0.001), now_s=over_s)
    end_s, now_s = over_s + LIMITS.build_s, over_s
    with arena.database.write() as connection:
        while now_s < end_s:
            assert renew_lease(connection, second, LIMITS, now_s, None)
            now_s += LIMITS.lease_s / 2
        assert not renew_lease(connection, second, LIMITS, end_s, None)
    assert not finish(arena.database, second, outcome(second.job, 0.001), now_s=end_s)
    assert arena.count_records(team) == 0
    with arena.database.write() as connection:
        assert name in recover(connection, LIMITS, end_s).given_up
    assert arena.get(f"/api/v1/records/{name}").json()["verdict"]["kind"] == "HARNESS_ERROR"
    return "nothing stored; the job is another's, in the end nobody's"
