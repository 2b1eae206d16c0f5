"""Two submissions are sent with one key at the same moment, so that one is answered with the other's place.

How: twenty requests over as many connections, ten of each, for one transaction to take together. Seen: keys that were
looked up before the first of several writers had written. Defence: requests of one transaction are answered one after
the other; whichever comes first has the key, and the other body is refused.
"""

from concurrent.futures import ThreadPoolExecutor

SOURCES = ("# one\ndef custom_kernel(data): ...", "# two\ndef custom_kernel(data): ...")


def attack(arena):
    team, key = arena.team(), arena.key()
    with ThreadPoolExecutor(20) as pool:
        answers = list(
            pool.map(lambda number: (number % 2, arena.submit(team.token, SOURCES[number % 2], key=key)), range(20))
        )
    taken = {which: answer.json()["id"] for which, answer in answers if answer.status_code in (200, 202)}
    assert len(taken) == 1
    (first,) = taken
    assert {answer.status_code for which, answer in answers if which != first} == {422}
    assert sum(answer.status_code == 202 for _, answer in answers) == 1
    assert arena.count(team) == 1
    return "one of them is taken, the other's ten are 422 idempotency-key-reused"
