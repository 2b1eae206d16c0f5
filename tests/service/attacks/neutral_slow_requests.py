"""Many connections that are as slow as can be, to take the places of others (slow loris).

How: two hundred that never end the head of their request, forty with a token whose bodies come a byte at a time,
forty that ask and do not read. Seen: every server with a thread for a connection. Defence: no thread waits for a
connection; heads, bodies and answers have their time (`harness.service.listening`, `http.read_body`).
"""

import time

from tests.service.arena import API
from tests.service.server import document

HEADS, BODIES, READERS = 200, 40, 40


def attack(arena):
    team, honest = arena.team(), arena.team()
    heads = [b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] * HEADS
    body = (
        f"POST {API}/submissions HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
        f"Authorization: Bearer {team.token}\r\nIdempotency-Key: {arena.key()}\r\n\r\n{{"
    ).encode()
    reads = b"".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in ("/", "/problems/scale") * 3)
    slow = []
    try:
        for said in (*heads, *[body] * BODIES, *[reads] * READERS):
            connection = arena.connected()
            slow.append(connection)
            connection.__enter__().sendall(said)
        assert arena.get("/").status_code == 200
        assert arena.get(f"{API}/whoami", honest.token).json()["team"] == honest.name
        taken = arena.submit(honest.token)
        assert taken.status_code == 202
        assert (
            arena.post(
                f"{API}/submissions", honest.token, document("x"), **{"Idempotency-Key": arena.key()}
            ).status_code
            == 202
        )
        assert arena.get("/readyz").json()["ready"]
        assert arena.get("/metrics").status_code == 200
    finally:
        for connection in slow:
            connection.__exit__(None, None, None)
    deadline = time.monotonic() + 120
    while arena.live.open_connections() > 20:
        assert time.monotonic() < deadline, "their places are free again"
        time.sleep(0.05)
    assert arena.count(team) == 0
    return f"answered beside {HEADS + BODIES + READERS} slow connections"
