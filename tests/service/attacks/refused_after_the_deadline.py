"""A submission comes at the closing moment, or began before it and ended after.

How: at the moment itself, a millisecond either side; a body whose last byte is held back until the season has closed;
a clock of the client's own in headers and body. Seen: deadlines that were checked when a request began, and times
taken from the client. Defence: the server's clock, looked at when the whole request has arrived; the closing moment
is closed.
"""

import json
from datetime import datetime, timezone

from tests.service.arena import API, want
from tests.service.server import document

CLOSES = datetime(2030, 1, 1, 12, tzinfo=timezone.utc)
PAST = {"Date": "Mon, 01 Jan 2024 00:00:00 GMT", "X-Request-Start": "t=0", "X-Submitted": "2024-01-01T00:00:00Z"}


def attack(arena):
    early, late = arena.team(), arena.team()
    close_s = CLOSES.timestamp()
    with arena.season(closes=CLOSES.isoformat()):
        with arena.clock(close_s - 0.001):
            token, late_token = arena.token(early.name), arena.token(late.name)
            taken = arena.submit(token)
        assert taken.status_code == 202, taken.text
        assert taken.json()["submitted"] == "2030-01-01T11:59:59Z"
        for after_s in (0.0, 0.001, 3600.0):
            with arena.clock(close_s + after_s):
                told = want(arena.submit(late_token, headers=PAST), 403, "season-closed")
                want(arena.submit(late_token, submitted="2029-01-01T00:00:00Z"), 400, "malformed")
        _hold_back_the_last_byte(arena, late_token, close_s)
    assert (arena.count(early), arena.count(late)) == (1, 0)
    return f"403 season-closed: {told}"


def _hold_back_the_last_byte(arena, token, close_s):
    body = json.dumps(document("# slow")).encode()
    head = (
        f"POST {API}/submissions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: Bearer {token}\r\nIdempotency-Key: slow-and-late\r\n\r\n"
    )
    with arena.connected() as connection:
        with arena.clock(close_s - 1):
            connection.sendall(head.encode() + body[:-1])
        with arena.clock(close_s):
            connection.sendall(body[-1:])
            answer = connection.recv(65536)
    assert b" 403 " in answer.split(b"\r\n")[0]
