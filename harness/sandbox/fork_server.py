"""The process from which every sandbox of a harness process is forked, so that none waits for a Python to start.

A bare `python -I -S` runs it as a module of its own, with a socket to the harness as standard input. It stays small
and single-threaded, holds nothing but that socket, never runs untrusted code, and dies with the harness. A request
is a message with descriptors (see `starting`); the answer is a process id, or an error's number below zero.

A fork is a child of the harness, not of this process: the harness waits for it and learns what it used, and what
dies with its parent dies with the harness. It waits for a byte on its lifeline before it becomes anything
(`launcher`), so that none runs whose process id got lost.
"""

# Each import, and each module behind it, delays the first sandbox: `socket` would double that.
from __future__ import annotations

import _socket
import fcntl
import gc
import marshal
import os
import struct

TYPE_CHECKING = False  # as type checkers know it, without the import
if TYPE_CHECKING:
    from typing import Any

kernel: Any = __import__("kernel")  # siblings by name, without the package and its imports
launcher: Any = __import__("launcher")

_MOST_DESCRIPTORS = 253  # what Linux lets one message carry
_FAILED = 125


def main() -> None:
    """Serve until the harness closes its end."""
    kernel.die_with_parent()
    gc.disable()  # a collection would touch, and so copy, every page in every fork
    connection = _socket.socket(fileno=0)
    while received := _receive(connection):
        try:
            pid = kernel.fork_sibling()
        except OSError as error:
            pid = -(error.errno or 0)
        if pid == 0:
            _carry_out(received)
        for descriptor in received:
            os.close(descriptor)
        connection.send(b"%d" % pid)


def _receive(connection: _socket.socket) -> list[int]:
    """Wait for a request; return its descriptors, none if there will be no more."""
    room = _socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4)
    _, attached, *_ = connection.recvmsg(1, room, _socket.MSG_CMSG_CLOEXEC)
    return [number for *_, data in attached for (number,) in struct.iter_unpack("i", data)]


def _carry_out(received: list[int]) -> None:
    """Become what a request asks for; never return."""
    ready = received[1]
    try:
        with open(received[0], "rb", closefd=False) as file:
            request = marshal.loads(file.read())  # noqa: S302  (the harness wrote it)
        ready, lifeline = _arrange(received, request["kept"])
        launcher.launch(request, ready, lifeline)
    except BaseException as error:  # there is nobody above to tell but the harness
        os.write(ready, f"{error}"[:2000].encode(errors="replace"))
    os._exit(_FAILED)


def _arrange(received: list[int], kept: list[int]) -> tuple[int, int]:
    """Give the descriptors that the command gets their numbers; return READY and LIFELINE, which it does not."""
    first_free = max([2, *kept]) + 1
    _, ready, lifeline, *given = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, first_free) for number in received)
    for number in received:
        os.close(number)
    for descriptor, number in zip(given, [0, 1, 2, *kept], strict=True):
        os.dup2(descriptor, number)  # standard input replaces our socket
        os.close(descriptor)
    return ready, lifeline
