"""A team has several tokens, and spreads its submissions over them; it submits again and again what is done already.

How: a token for each submission, revoked and new ones, and identical sources. Seen: limits by token, by address, by
session. Defence: limits count a team's submissions, whatever they came with and whatever became of them.
"""

from tests.service.arena import LIMITS, want


def attack(arena):
    team = arena.team()
    start_s = arena.now_s()
    with arena.clock(start_s):
        for i in range(LIMITS.per_hour):
            taken = arena.submit(arena.token(team.name), f"# {i % 2}")
            assert taken.status_code == 202
            arena.conclude(taken.json()["id"])
        told = want(arena.submit(arena.token(team.name)), 429, "rate-limit")
    with arena.clock(start_s + 3599.0):
        want(arena.submit(arena.token(team.name)), 429, "rate-limit")
    with arena.clock(start_s + 3601.0):
        taken = arena.submit(arena.token(team.name))
        assert taken.status_code == 202, taken.text
    return f"429 rate-limit: {told}"
