"""Thirty teams submit while an organiser closes the season.

How: thirty connections at once and the act among them. Seen: entries that were accepted and then lost, or taken after
the close because a worker still had the old rules. Defence: a submission and the rules that it is judged by are one
transaction; what was answered with 202 is there, and what was refused is not.
"""

from concurrent.futures import ThreadPoolExecutor

from tests.service.arena import API

TEAMS = 30


def attack(arena):
    teams = [arena.team() for _ in range(TEAMS)]
    try:
        with ThreadPoolExecutor(TEAMS) as pool:
            answers = [pool.submit(arena.submit, team.token) for team in teams[: TEAMS // 2]]
            closed = pool.submit(arena.act, act="season", changes={"closes": "2024-01-01T00:00:00Z"}, reason="now")
            answers += [pool.submit(arena.submit, team.token) for team in teams[TEAMS // 2 :]]
        assert closed.result().status_code == 200
        after = arena.submit(teams[0].token)
    finally:
        arena.act(act="season", changes={"closes": None}, reason="over")
    assert after.json()["type"].endswith("season-closed")
    found = [answer.result() for answer in answers]
    taken = {answer.json()["id"] for answer in found if answer.status_code == 202}
    assert {answer.json().get("type", "").rpartition(":")[2] for answer in found if answer.status_code != 202} <= {
        "season-closed"
    }
    stored = sum(arena.count(team) for team in teams)
    assert stored == len(taken)
    for name in taken:
        assert arena.get(f"{API}/submissions/{name}").json()["id"] == name
    return "each is stored and answered 202, or refused and not there"
