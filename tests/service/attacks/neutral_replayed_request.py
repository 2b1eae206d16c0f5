"""One submission is sent twenty times at once.

How: the same bytes over twenty connections; then the same key with another submission. Seen: clients that try again,
and double entries from double clicks. Defence: a key is used once in a team, by a constraint of the database; the
same request gets the first one's answer, another one is refused.
"""

from concurrent.futures import ThreadPoolExecutor

from tests.service.arena import want


def attack(arena):
    team, key = arena.team(), arena.key()
    source = "# the same\ndef custom_kernel(data): ..."
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: arena.submit(team.token, source, key=key), range(20)))
    assert {answer.json()["id"] for answer in answers} == {answers[0].json()["id"]}
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
    want(arena.submit(team.token, "# another", key=key), 422, "idempotency-key-reused")
    want(arena.submit(team.token, source, key=key, target="h200"), 422, "idempotency-key-reused")
    for odd in ("", "short", "x" * 73, "with space", "new\tline", "ключ-ключ".encode().decode("latin-1")):
        want(arena.submit(team.token, source, headers={"Idempotency-Key": odd}), 400, "idempotency-key")
    assert arena.count(team) == 1
    return "202 once, 200 nineteen times, 422 for another body"
