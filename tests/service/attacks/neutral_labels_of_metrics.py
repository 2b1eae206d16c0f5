"""Names for Prometheus to keep for ever: a new series for every address and method that somebody makes up.

How: two hundred addresses, methods and parameters of one's own. Seen: servers that ran out of memory by their own
metrics. Defence: a route is named by its pattern, an unknown one and an unknown method by one word.
"""

import requests


def attack(arena):
    team = arena.team()
    for number in range(3):
        _ask(arena, team, number)
    before = _series(arena)
    for number in range(3, 60):
        _ask(arena, team, number)
    after = _series(arena)
    # What another attack has left may end just now: some lines of an address that is known.
    assert len(after - before) < 57
    assert "made-up" not in "".join(after)
    assert team.name not in "".join(after)
    return f"{len(before)} series before and after"


def _ask(arena, team, number):
    arena.get(f"/made-up-{number}")
    arena.get(f"/records/made-up-{number}?x={number}", **{f"X-{number}": team.name})
    arena.get(f"/api/v1/records?team={team.name}{number}")
    requests.request(f"METHOD{number}", f"{arena.live.url}/queue", timeout=60)


def _series(arena):
    lines = arena.get("/metrics").text.splitlines()
    return {line.rpartition(" ")[0] for line in lines if line.startswith("harness_request") and "/metrics" not in line}
