"""A token is revoked while a request that it came with is still on its way.

How: the head and all but the last byte of a body are sent, then the token is revoked, then the last byte comes; on
each address that takes a body. Seen: rights that are looked at when a request begins. Defence: they are looked at
once more in the transaction that takes what was said (a posted record was kept, until this was tried).
"""

import dataclasses
import json

from harness.store.record import encode_record
from tests.service.arena import API
from tests.service.server import document
from tests.store.samples import passed


def attack(arena):
    team = arena.team()
    record = dataclasses.replace(passed(team.name, 5.0), problem="scale", target="b200")
    bodies = {
        "submissions": document("# late"),
        "records": encode_record(record),
        "acts": {"act": "freeze", "reason": "x"},
    }
    before = {name: rows for name, rows in arena.dump().items() if name in ("jobs", "unverified", "frozen")}
    for path, body in bodies.items():
        token = arena.new_organiser() if path == "acts" else arena.token(team.name)
        text = json.dumps(body).encode()
        head = (
            f"POST {API}/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(text)}\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nIdempotency-Key: {arena.key()}\r\n\r\n"
        )
        with arena.connected() as connection:
            connection.sendall(head.encode() + text[:-1])
            assert arena.act(act="revoke", token=token.split("_")[1], reason="lost").status_code == 200
            connection.sendall(text[-1:])
            assert b" 401 " in connection.recv(65536).split(b"\r\n")[0], path
    after = arena.dump()
    assert {name: after[name] for name in before} == before
    return "401 token-revoked: submissions, records, acts"
