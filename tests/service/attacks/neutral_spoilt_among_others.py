"""Submissions that cannot be taken are sent among others', to have those refused or lost as well.

How: wrong problems, used keys, revoked tokens, teams that are over their limit, at the same moment as honest ones:
the service takes in one transaction what has come together. Seen: batches that fail as a whole. Defence: each is
answered as if it were alone; a transaction that fails is tried again for each.
"""

from concurrent.futures import ThreadPoolExecutor

from tests.service.arena import LIMITS

HONEST = 12


def attack(arena):
    honest = [arena.team() for _ in range(HONEST)]
    spoiler, full = arena.team(), arena.team()
    used = arena.key()
    assert arena.submit(spoiler.token, "# used", key=used).status_code == 202
    for _ in range(LIMITS.pending):
        assert arena.submit(full.token).status_code == 202
    revoked = arena.token(spoiler.name)
    assert arena.get("/api/v1/whoami", revoked).status_code == 200
    arena.act(act="revoke", token=revoked.split("_")[1], reason="x")
    spoilt = [
        lambda: arena.submit(spoiler.token, problem="none"), lambda: arena.submit(spoiler.token, "# other", key=used),
        lambda: arena.submit(revoked), lambda: arena.submit(full.token),
        lambda: arena.submit(spoiler.token, suite="none"),
    ]  # fmt: skip
    asks = [lambda team=team: arena.submit(team.token) for team in honest]
    for i, ask in enumerate(spoilt):
        asks.insert(2 * i, ask)
    with ThreadPoolExecutor(len(asks)) as pool:
        answers = list(pool.map(lambda ask: ask(), asks))
    assert [arena.count(team) for team in honest] == [1] * HONEST
    assert sorted(answer.status_code for answer in answers) == [202] * HONEST + [401, 422, 422, 422, 429]
    return f"{HONEST} honest ones taken, {len(spoilt)} refused, each for its own reason"
