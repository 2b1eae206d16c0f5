"""Requests at a fixed rate, whatever the answers take: from a process of its own, over connections that are kept open.

Plain sockets and prepared bytes, so that it costs the machine next to nothing. A time counts from when its request was
due, so that a server which makes others wait is not excused for it.
"""

from __future__ import annotations

import multiprocessing
import selectors
import socket
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

CONNECTIONS = 64
HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Answered:
    """What became of the requests.

    Attributes:
        times_s: of each, from when it was due.
        statuses: of each.
        wall_s: from when the first was due to the last answer.
        cpu_s: what sending took.
    """

    times_s: list[float]
    statuses: list[int]
    wall_s: float
    cpu_s: float


def send_at_rate(address: tuple[str, int], requests: Sequence[bytes], per_second: float) -> Answered:
    """Send requests from another process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_send, address, requests, per_second).result()


def _send(address: tuple[str, int], requests: Sequence[bytes], per_second: float) -> Answered:
    sender = _Sender(address, requests, per_second)
    cpu_s = time.process_time()
    while sender.left:
        sender.step()
    return Answered(sender.times_s, sender.statuses, time.perf_counter() - sender.begin_s, time.process_time() - cpu_s)


class _Sender:
    """One thread, many connections."""

    def __init__(self, address: tuple[str, int], requests: Sequence[bytes], per_second: float) -> None:
        self._address, self._requests, self._interval_s = address, requests, 1 / per_second
        self.left = len(requests)
        self.times_s, self.statuses = [0.0] * self.left, [0] * self.left
        self._due: deque[int] = deque()
        self._next = 0
        self._selector = selectors.DefaultSelector()
        self._busy: dict[socket.socket, tuple[int, bytes]] = {}
        self._idle = deque(self._connect() for _ in range(CONNECTIONS))
        self.begin_s = time.perf_counter() + 0.5

    def step(self) -> None:
        """Send what is due, and read what has come until the next is."""
        while self._next < len(self._requests) and self._due_s(self._next) <= time.perf_counter():
            self._due.append(self._next)
            self._next += 1
        while self._due and self._idle:
            number, connection = self._due.popleft(), self._idle.popleft()
            self._busy[connection] = number, b""
            connection.sendall(self._requests[number])
        wait_s = self._due_s(self._next) - time.perf_counter() if self._next < len(self._requests) else 1.0
        for key, _ in self._selector.select(max(0.0, wait_s)):
            assert isinstance(key.fileobj, socket.socket)
            self._read(key.fileobj)

    def _due_s(self, number: int) -> float:
        return self.begin_s + number * self._interval_s

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(self._address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(connection, selectors.EVENT_READ)
        return connection

    def _read(self, connection: socket.socket) -> None:
        content = connection.recv(1 << 16)
        if not content:  # a server ends connections that nobody has used for some seconds
            assert connection not in self._busy, "the server gave no answer"
            self._selector.unregister(connection)
            connection.close()
            self._idle.remove(connection)
            self._idle.append(self._connect())
            return
        number, before = self._busy[connection]
        content = before + content
        self._busy[connection] = number, content
        head, end, rest = content.partition(HEAD_END)
        if end and len(rest) >= _content_length(head):
            self.times_s[number] = time.perf_counter() - self._due_s(number)
            self.statuses[number] = int(head[9:12])
            del self._busy[connection]
            self._idle.append(connection)
            self.left -= 1


def _content_length(head: bytes) -> int:
    _, _, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0] or 0)
