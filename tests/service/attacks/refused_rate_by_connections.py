"""A team sends thirty submissions at once, to have them counted before any of them is stored.

How: thirty connections, each with a key and a source of its own. Seen: limits that were read first and written later.
Defence: requests of one team are counted one after the other, in the transaction that stores them.
"""

from concurrent.futures import ThreadPoolExecutor

from tests.service.arena import LIMITS


def attack(arena):
    team = arena.team()
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda _: arena.submit(team.token), range(30)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [202] * LIMITS.pending + [429] * (30 - LIMITS.pending)
    assert arena.count(team) == LIMITS.pending
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers if answer.status_code == 429)
    return f"202 for {LIMITS.pending}, 429 too-many-pending for the rest"
