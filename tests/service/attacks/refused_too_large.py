"""Uploads that are too much: in bytes, in files, in depth, in what they unfold to.

How: a length that is announced, one that is not (chunked), one that lies; a thousand files; nesting of a hundred
thousand brackets; a number of three hundred thousand digits; names given twice; a gzip of zeros; a form of ten
thousand parts. Seen: every one of them, against every upload form. Defence: bytes are counted as they come, nothing
is decompressed, the JSON reader is strict, and sizes are those of a folder on disk.
"""

import gzip
import json
from contextlib import suppress

from tests.service.arena import API, LIMITS, encoded, want
from tests.service.server import document

MOST = LIMITS.body_bytes


def attack(arena):
    team = arena.team()
    want(arena.submit(team.token, "#" * MOST), 413, "too-large")
    files = {"submission.py": encoded("x = 1"), **{f"f{i}.py": "" for i in range(1000)}}
    want(arena.submit(team.token, files=files), 413, "too-large")
    deep = {"submission.py": encoded("x"), "/".join("abcdef"): ""}
    want(arena.submit(team.token, files=deep), 422, "bad-name")
    told = [_send(arena, team, body, *headers) for body, *headers in _bodies()]
    assert set(told) <= {400, 413, 422}, told
    assert arena.count(team) == 0
    assert arena.get("/readyz").status_code == 200
    return f"413 too-large, 400 malformed: {len(told) + 3} ways"


def _bodies():
    good = json.dumps(document("x = 1"))
    yield (b"[" * (MOST - 10),)
    yield (b'{"format": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",)
    yield (b'{"format": ' + b"1" * 300_000 + b"}",)
    yield (good.replace('"format": 1', '"format": ' + "9" * 400).encode(),)
    yield (b'{"format": 1e' + b"9" * 300_000 + b"}",)
    yield (good.replace('"format": 1', '"format": 1, "format": 1').encode(),)
    yield (good.replace('"format": 1', '"format": true').encode().replace(b"true", b"NaN"),)
    yield (good.replace("submission.py", "../submission.py").encode(),)
    yield (good.encode("utf-16"),)
    yield (b"\xff" * 1000,)
    yield gzip.compress(b"0" * 10_000_000), b"Content-Encoding: gzip"
    yield gzip.compress(good.encode()), b"Content-Encoding: gzip"
    part = b'--x\r\nContent-Disposition: form-data; name="f"; filename="submission.py"\r\n\r\nx\r\n'
    yield part * (MOST // len(part) - 10) + b"--x--", b"Content-Type: multipart/form-data; boundary=x"
    yield b"a=" + b"&a=" * 100_000, b"Content-Type: application/x-www-form-urlencoded"
    yield b"%x\r\n" % (2 * MOST) + b"x" * (2 * MOST) + b"\r\n0\r\n\r\n", b"Transfer-Encoding: chunked"
    yield b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n", b"Transfer-Encoding: chunked"
    yield b"{}", b"Content-Length: 99999999999999999999"


def _send(arena, team, body, *headers):
    head = [
        f"POST {API}/submissions HTTP/1.1".encode(), b"Host: x", b"Connection: close",
        f"Authorization: Bearer {team.token}".encode(), f"Idempotency-Key: {arena.key()}".encode(), *headers,
    ]  # fmt: skip
    if not any(b"-Length" in header or b"chunked" in header for header in headers):
        head.append(f"Content-Length: {len(body)}".encode())
    with arena.connected() as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may be refused before all of it is sent
            connection.sendall(b"\r\n".join(head) + b"\r\n\r\n" + body)
        try:
            status = connection.recv(65536).split(b" ", 2)[1]
        except ConnectionResetError:
            return 413
    return int(status)
