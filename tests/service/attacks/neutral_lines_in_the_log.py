"""What is sent writes lines into the log, or its secrets get there.

How: line ends, escape sequences and JSON in addresses, methods, headers and bodies; tokens in every place where
somebody might put one by mistake. Seen: forged entries, and logs full of passwords. Defence: each field of the log is
chosen, routes are named by their pattern, and a line is one JSON object.
"""

import json
import logging
import time

from harness.service import logs
from tests.service.arena import API, encoded
from tests.service.server import document

FORGED = '%0a{"event": "forged"}%1b[31m'


def attack(arena):
    team = arena.team()
    lines = _Lines()
    source = "# not in the log"
    secrets = (team.token.split("_", 2)[2], source, encoded(source)[:16])
    logger = logging.getLogger("harness.service")
    level = logger.level
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    try:
        for path in (
            f"/{FORGED}",
            f"/records/{FORGED}",
            f"/?token={team.token}",
            f"/{team.token}",
            f"{API}/records?team={team.token}",
        ):
            arena.get(path, team.token, **{"X-Said": team.token, "User-Agent": FORGED})
        arena.submit(team.token, source, secret=team.token)
        arena.submit(team.token, source)
        arena.post(f"{API}/records", team.token, {"team": FORGED, "token": team.token})
        arena.post(f"{API}/submissions", team.token + "x", document(source))
        arena.say(
            b"GET / HTTP/1.1\r\nHost: x\r\n"
            + f"X: {team.token}\r\n".encode()
            + b"Bad Header\r\nConnection: close\r\n\r\n"
        )
        _end_too_soon(arena, team, lines.told)
    finally:
        logger.removeHandler(lines)
        logger.setLevel(level)
    assert len(lines.told) >= 9
    for line in lines.told:
        assert not {"\n", "\x1b"} & {*line}
        assert json.loads(line)["event"] not in ("forged", "bug")
        assert not [text for text in secrets if text in line]
    return f"{len(lines.told)} lines, one a request, no token in any"


def _end_too_soon(arena, team, told):
    """Say half of a body and leave; then wait until that is in the log."""
    head = f"POST {API}/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {team.token}\r\n"
    before = len(told)
    with arena.connected() as connection:
        connection.sendall(f"{head}Content-Length: 99\r\n\r\n{{".encode())
    deadline = time.monotonic() + 120
    while len(told) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


class _Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.told = []
        self.setFormatter(logs._Lines())

    def emit(self, record):
        self.told.append(self.format(record))
