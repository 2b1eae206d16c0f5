"""Addresses in everything that is sent, so that the server asks for one of them (SSRF).

How: the address of a listener in names, texts, headers, the request's first line, a proxy's methods, a record, an
act; then every page. Seen: webhooks, avatars, link previews. Defence: there is nothing of the kind: no part of the
service can ask anybody for anything (it imports no client), and while this runs its threads open no connection and
start no process.
"""

import ast
import dataclasses
import socket
import sys
import threading
from pathlib import Path

import harness.service
import harness.site
from harness.store.record import encode_record
from tests.board.hostile import HOSTILE, hostile_record
from tests.service.arena import API, encoded
from tests.service.walking import WORDS, walk

CLIENTS = {"requests", "urllib3", "httpx", "aiohttp", "http.client", "urllib.request", "ftplib", "smtplib",
           "xmlrpc", "telnetlib", "webbrowser"}  # fmt: skip
EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.system", "os.exec",
          "os.posix_spawn", "urllib.Request")  # fmt: skip
_seen, _mine = [], threading.local()
_watched = []


def _hear(event, arguments):
    if _watched and event in EVENTS and not getattr(_mine, "attacking", False):
        _seen.append((event, str(arguments)[:200]))


def attack(arena):
    assert not [name for part in (harness.service, harness.site) for name in _imports(part) if name in CLIENTS]
    if not getattr(sys, "_harness_hears", False):
        sys.addaudithook(_hear)
        sys._harness_hears = True
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        _mine.attacking = True
        _watched.append(address)
        try:
            asked = _send(arena, address)
        finally:
            _watched.clear()
        try:
            listener.accept()
            raise AssertionError("somebody came")
        except BlockingIOError:
            pass
    assert not _seen
    return f"{asked} answers, and nobody came"


def _send(arena, address):
    team = arena.team()
    texts = {
        "Referer": address,
        "Origin": address,
        "X-Forwarded-Host": address,
        "Link": f"<{address}>",
        "Callback": address,
    }
    name = arena.submit(team.token, f"# {address}\nimport urllib", headers=texts).json()["id"]
    arena.submit(team.token, files={"submission.py": encoded(address), "a.py": encoded(address)}, headers=texts)
    arena.submit(team.token, problem=address, callback=address)
    arena.conclude(name, 5.0, unranked_reason=address, machine={"gpu": address})
    record = dataclasses.replace(hostile_record(), team=team.name, problem="scale", target="b200", division="closed")
    text = str(encode_record(record)).replace(HOSTILE, address)
    posted = arena.post(f"{API}/records", team.token, ast.literal_eval(text)).json()["id"]
    arena.act(act="freeze", problem="scale", reason=f"see {address}")
    arena.act(act="thaw", problem="scale", reason=f"![x]({address}) <img src={address}>")
    for line in (
        f"GET {address} HTTP/1.1",
        f"CONNECT {address} HTTP/1.1",
        f"GET /problems/{address} HTTP/1.1",
        f"GET //{address} HTTP/1.1",
    ):
        arena.say(f"{line}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    words = {**WORDS, "team": (team.name,), "record_id": (name, posted), "submission_id": (name,)}
    return sum(1 for _ in walk(arena.live.url, arena.routes, words, {"own": team.token}))


def _imports(package):
    for path in Path(package.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield str(node.module)
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
