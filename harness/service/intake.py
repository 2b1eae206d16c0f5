"""Where submissions are taken in: one thread, and one transaction for all that have come since the last one.

A transaction costs its queries and a write to the disk, however many submissions it takes. So in a rush each has to
wait for one or two of them, and the database works no more than it would for a trickle. A team that somebody else holds
(an organiser who rules on it, say) keeps nobody else waiting, however much it has sent: that is taken by a later
transaction, and what others have sent goes before it.

What cannot be taken is told to whoever sent it alone; nothing of the others' is lost by it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from harness.errors import HarnessError
from harness.service.accepting import Accepted, Answer, Asked, accept_all
from harness.service.errors import RefusedError
from harness.service.logs import warn
from harness.service.rules import RulesFile
from harness.service.settings import Limits
from harness.service.teams import find_faults, hold_teams
from harness.service.waiting import Watch
from harness.store.database import Database

PACE_S = 0.04
"""Transactions begin at least this far apart: what comes meanwhile goes together, and is not kept waiting for long."""

MOST = 256
"""Submissions in one transaction."""

HELD_S = 15.0
"""How long a submission waits for its team."""


@dataclass(frozen=True)
class _Waiting:
    asked: Asked
    token: str
    since_s: float = field(default_factory=time.monotonic)
    answered: Future[Accepted] = field(default_factory=Future)

    def answer(self, answer: Answer | Exception) -> None:
        if isinstance(answer, Exception):
            self.answered.set_exception(answer)
        else:
            self.answered.set_result(answer)


class Intake:
    """Takes submissions into a database; `clock` is the server's."""

    def __init__(
        self,
        database: Database,
        rules: RulesFile,
        limits: Limits,
        watch: Watch,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database, self._rules, self._limits, self._watch = database, rules, limits, watch
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._held: set[str] = set()  # teams that were not to be had when they were last asked for
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def works(self) -> bool:
        """Say whether what is given to `take` is taken."""
        return not self._closed and (self._thread is None or self._thread.is_alive())

    def take(self, asked: Asked, token: str) -> Future[Accepted]:
        """Take a submission as soon as possible; the result is there when it is on the disk.

        Its exception may be a RefusedError, which says why it is not taken, or an error of the database.

        Args:
            asked: the submission.
            token: the id of the token that it came with: it must be valid when it is taken, too.

        Raises:
            RefusedError: the service is being stopped.
        """
        waiting = _Waiting(asked, token)
        waiting.answered.set_running_or_notify_cancel()  # from here on it is taken, whoever stops listening
        with self._changed:
            if self._closed:
                raise RefusedError(503, "closing", "the service is being restarted: try again", retry_after_s=5)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
                self._thread.start()
            self._waiting.append(waiting)
            self._changed.notify()
        return waiting.answered

    def close(self) -> None:
        """End the thread, once it has taken what waits."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            started_s = time.monotonic()
            held_up = self._try_to_take(batch)
            with self._changed:
                self._waiting[:0] = held_up
            self._held -= {waiting.asked.team for waiting in batch}
            self._held |= {waiting.asked.team for waiting in held_up}
            time.sleep(max(0.0, started_s + PACE_S - time.monotonic()))

    def _next(self) -> list[_Waiting]:
        """Wait for something; return nothing once there will be nothing more."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            self._waiting.sort(key=lambda waiting: waiting.asked.team in self._held)  # else each as it came
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            return batch

    def _try_to_take(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Take submissions; a fault of ours ends those, and not the thread that others wait for."""
        try:
            return self._take(batch)
        except Exception as error:
            warn("submissions were not taken", error=error)
            for waiting in batch:
                if not waiting.answered.done():
                    waiting.answer(error)
            return []

    def _take(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Take submissions, tell who sent them, and return those whose team is not to be had now."""
        try:
            answers = self._write(batch)
        except Exception as error:
            if len(batch) == 1 or _is_down(error):
                return self._tell_all(batch, [error] * len(batch))
            return [left for waiting in batch for left in self._take([waiting])]  # lest one spoils it for all
        return self._tell_all(batch, answers)

    def _write(self, batch: list[_Waiting]) -> list[Answer | None]:
        """Return an answer to each request, on the disk by then; None for one whose team is held."""
        with self._database.write() as connection:
            now_s = self._clock()
            held = hold_teams(connection, {waiting.asked.team for waiting in batch}, wait=False)
            mine = [waiting for waiting in batch if waiting.asked.team in held]
            answers = iter(self._accept(connection, mine, now_s) if mine else ())
        self._look(now_s)
        return [next(answers) if waiting.asked.team in held else None for waiting in batch]

    def _accept(self, connection: Connection, batch: list[_Waiting], now_s: float) -> list[Answer]:
        faults = find_faults(connection, {waiting.token for waiting in batch}, now_s)
        rules = self._rules.current(connection)
        valid = [waiting.asked for waiting in batch if waiting.token not in faults]
        answers = iter(accept_all(connection, valid, rules, self._limits, now_s))
        return [faults[waiting.token] if waiting.token in faults else next(answers) for waiting in batch]

    def _look(self, now_s: float) -> None:
        """Look at the queue again if that is long ago, for what is told of positions; they are taken all the same."""
        if self._watch.is_fresh(now_s):
            return
        try:
            with self._database.read() as connection:
                self._watch.refresh(connection, now_s)
        except HarnessError:
            return

    def _tell_all(self, batch: list[_Waiting], answers: Iterable[Answer | Exception | None]) -> list[_Waiting]:
        held_up = []
        for waiting, answer in zip(batch, answers, strict=True):
            if answer is not None:
                waiting.answer(answer)
            elif time.monotonic() - waiting.since_s > HELD_S:
                told = "your team's submissions are being worked on: try again"
                waiting.answer(RefusedError(503, "busy", told, retry_after_s=HELD_S))
            else:
                held_up.append(waiting)
        return held_up


def _is_down(error: Exception) -> bool:
    """Say whether the next transaction would fail likewise: the database is locked, full or out of reach."""
    return isinstance(error.__cause__, OperationalError)
