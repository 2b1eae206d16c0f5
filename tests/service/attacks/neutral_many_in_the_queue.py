"""A team fills the queue, so that others wait.

How: as many submissions as it may have, before anybody else's, again whenever one is done. Seen: queues in the order
of arrival on the last evening. Defence: teams take turns; whoever comes later is served after one job of each other
team.
"""

from tests.service.arena import LIMITS
from tests.service.event import finish, lease


def attack(arena):
    greedy, modest = arena.team(), arena.team()
    for _ in range(LIMITS.pending):
        assert arena.submit(greedy.token).status_code == 202
    late = arena.submit(modest.token).json()
    assert late["position"] <= 2
    served = []
    while not served or served[-1] != modest.name:
        held = lease(arena.database, now_s=arena.now_s())
        served.append(held.job.team)
        assert finish(arena.database, held, now_s=arena.now_s())
    assert served in ([greedy.name, modest.name], [modest.name])
    return f"served after {len(served) - 1} of the greedy team's {LIMITS.pending}"
