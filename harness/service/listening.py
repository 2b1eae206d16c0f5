"""How long a connection may take: one that never ends its question, or never reads its answer, is given up.

Whoever opens connections and says nothing, or a letter a second, would take the places of everybody else, and needs no
token to. uvicorn bounds the time between two requests, `http.read_body` that of a body; here it is the head of a
request, and everything from there to the last byte of its answer.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 15.0
ANSWER_S = 120.0
"""From a request's head to the end of its answer: more than the longest body and the slowest answer take together."""


class PunctualProtocol(H11Protocol):
    """One connection, ended when it is late."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect_by(HEAD_S)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request: the head's time goes on while it is not whole, then the answer's begins."""
        asked = self._has_asked()
        super().data_received(data)
        if self._has_asked() != asked or self._late is None:
            self._expect_by(ANSWER_S if self._has_asked() else HEAD_S)

    def on_response_complete(self) -> None:
        """Wait for what is not read yet; for the next request, uvicorn waits."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._expect_by(ANSWER_S)
        else:
            self._expect_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._expect_no_more()
        super().connection_lost(exc)

    def _has_asked(self) -> bool:
        return self.conn.their_state is not h11.IDLE

    def _expect_by(self, limit_s: float) -> None:
        self._expect_no_more()
        self._late = self.loop.call_later(limit_s, self.transport.abort)

    def _expect_no_more(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
