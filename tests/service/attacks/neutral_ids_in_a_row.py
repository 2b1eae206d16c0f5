"""Ids of records and submissions are guessed, to find what is not shown yet.

How: ids are sorted by time, so most of one is known; near ones, parts of one, patterns, and the ids of what waits are
tried. Seen: counters as ids, and "forbidden" for what exists beside "not found" for what does not. Defence: what may
be known of a submission is on the queue's page for everybody, and the rest asks for a token, whoever knows the id;
what is not there and what is not there yet are answered alike.
"""

from tests.service.arena import API, want

PATTERNS = ("%25", "_", "*", "..%2f", "%2e%2e%2fsecret", "%00", "' OR 1=1 --", "0", "-1", "{}", "null")


def attack(arena):
    team, other = arena.team(), arena.team()
    name = arena.submit(team.token).json()["id"]
    waiting = arena.get(f"{API}/records/{name}", other.token)
    absent = arena.get(f"{API}/records/{'0' * 14}", other.token)
    assert waiting.json() == absent.json()
    near = [name[:-1] + letter for letter in "0123456789abcdefghjkmnpqrstvwxyz" if letter != name[-1]]
    for guess in (*near, *PATTERNS, name[:8], name.upper(), name + " ", name + "%00"):
        for path in (f"records/{guess}", f"submissions/{guess}", f"submissions/{guess}/files"):
            answer = arena.get(f"{API}/{path}", other.token)
            assert answer.status_code == 404, path
            assert name not in answer.text
        assert arena.get(f"/records/{guess}").status_code == 404, guess
    for token in (None, other.token):
        want(arena.get(f"{API}/submissions/{name}/files", token), 403, "code-hidden")
    arena.conclude(name)
    return f"404 for {len(near) + len(PATTERNS)} guesses; a known id shows what its page does"
