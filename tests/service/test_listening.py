"""Connections that are late are given up, and nobody else is."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

from harness.service import listening
from harness.service import server as serve
from harness.service.listening import PunctualProtocol

ENOUGH_S = 60.0
LARGE = b"x" * (64 << 20)
"""More than the buffers between two sockets hold."""


async def answer(scope, receive, send):
    """An app: a large answer, or the size of what was sent."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    body = LARGE if scope["path"] == "/large" else f"{size} bytes".encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def serving():
    config = uvicorn.Config(answer, http=PunctualProtocol, lifespan="off", log_config=None, timeout_keep_alive=600)
    server, sockets = uvicorn.Server(config), [socket.create_server(("127.0.0.1", 0))]
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets})
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield server, sockets[0].getsockname()
    finally:
        server.should_exit = True
        thread.join(ENOUGH_S)


def wait_for(condition):
    deadline = time.monotonic() + ENOUGH_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def connected(address):
    with socket.create_connection(address, timeout=ENOUGH_S) as connection:
        yield connection


def is_ended(connection):
    try:
        return connection.recv(65536) == b""
    except ConnectionResetError:
        return True


def read_answer(connection, end):
    found = b""
    while not found.endswith(end):
        found += (part := connection.recv(65536))
        assert part, found


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"], ids=["nothing", "half-a-head"])
def test_a_head_that_never_ends(monkeypatch, said):
    monkeypatch.setattr(listening, "HEAD_S", 0.3)
    with serving() as (_, address), connected(address) as late:
        late.sendall(said)
        assert is_ended(late)


def test_a_second_head_that_never_ends(monkeypatch):
    with serving() as (_, address), connected(address) as late:
        late.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        read_answer(late, b"0 bytes")
        monkeypatch.setattr(listening, "HEAD_S", 0.3)
        late.sendall(b"GET")
        assert is_ended(late)


def test_a_letter_at_a_time_does_not_begin_the_time_anew(monkeypatch):
    monkeypatch.setattr(listening, "HEAD_S", 0.5)

    def trickle(connection):
        for letter in b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000:
            connection.sendall(bytes([letter]))
            time.sleep(0.02)

    with serving() as (_, address), connected(address) as late, pytest.raises(OSError):
        trickle(late)


def test_an_answer_that_nobody_reads(monkeypatch):
    monkeypatch.setattr(listening, "ANSWER_S", 0.5)
    with serving() as (server, address), connected(address) as late:
        late.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert late.recv(1) == b"H"
        wait_for(lambda: not server.server_state.connections)


def test_whoever_is_on_time_may_take_it(monkeypatch):
    """A body is longer on its way than a head may be; a connection may rest for longer than that, too."""
    with serving() as (_, address), connected(address) as patient:
        for _ in range(2):
            patient.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab")
            time.sleep(0.6)
            patient.sendall(b"cd")
            read_answer(patient, b"4 bytes")
            monkeypatch.setattr(listening, "HEAD_S", 0.2)
            time.sleep(0.6)


def test_small_parts_of_an_answer_are_sent_at_once():
    """An answer is sent in two parts: by Nagle's algorithm the second waits 40 ms for the receipt of the first."""
    with serve._listen("127.0.0.1", 0) as listener, connected(listener.getsockname()):
        accepted, _ = listener.accept()
        loop = asyncio.new_event_loop()
        transport, _ = loop.run_until_complete(loop.connect_accepted_socket(asyncio.Protocol, accepted))
        assert transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport.abort()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
