"""A request that was overheard is sent again after its token was revoked.

How: byte for byte, with its idempotency key. Seen: sessions that were kept in memory, tokens that carry their own
rights. Defence: the database is asked at every request, so a revocation holds from the next one on.
"""

import json

from tests.service.arena import API, want
from tests.service.server import document


def attack(arena):
    team = arena.team()
    body = json.dumps(document("# overheard")).encode()
    head = (
        f"POST {API}/submissions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: Bearer {team.token}\r\nIdempotency-Key: overheard-one\r\n\r\n"
    )
    assert b" 202 " in arena.say(head.encode() + body)
    assert arena.act(act="revoke", token=team.token.split("_")[1], reason="overheard").status_code == 200
    assert b"token-revoked" in arena.say(head.encode() + body)
    for answer in (arena.submit(team.token), arena.get(f"{API}/whoami", team.token)):
        want(answer, 401, "token-revoked")
    assert arena.count(team) == 1
    return "401 token-revoked, also for what was taken before"
