"""A token is used after its time, with a clock of the client's own.

How: at the moment of its end and later, with `Date` and the like in the past. Seen: expiry that was checked by the
client, or against a time in the request. Defence: the server's clock, at every request; the moment itself is already
too late.
"""

from tests.service.arena import API, want

PAST = {
    "Date": "Mon, 01 Jan 2024 00:00:00 GMT",
    "X-Timestamp": "0",
    "If-Unmodified-Since": "Mon, 01 Jan 2024 00:00:00 GMT",
}


def attack(arena):
    team = arena.team()
    start_s = arena.now_s()
    with arena.clock(start_s):
        token = arena.token(team.name, days=1)
    with arena.clock(start_s + 86399.99):
        assert arena.get(f"{API}/whoami", token).status_code == 200
    for late_s in (86400.0, 86401.0, 1e9):
        with arena.clock(start_s + late_s):
            told = want(arena.submit(token, headers=PAST), 401, "token-expired")
            want(arena.get(f"{API}/whoami", token, **PAST), 401, "token-expired")
    assert arena.count(team) == 0
    return f"401 token-expired: {told}"
