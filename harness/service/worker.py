"""A worker: a process that leases jobs, evaluates them one at a time, and stores what came of each.

A second thread says every few seconds that the worker lives and how far it is. When it learns that the lease is over,
that the stage's time is spent, or that the server has ended, it stops the evaluation by a signal. Whatever happens
here, what is stored is right: the database takes results from the lease's holder alone.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType
from typing import Any

from harness.engine.progress import Event
from harness.errors import HarnessError
from harness.service.evaluating import Evaluator
from harness.service.job import Lease
from harness.service.logs import tell, warn
from harness.service.queue import Worker, lease_job, release_job, renew_lease, start_job
from harness.service.recovery import forget_worker, register_worker, see_worker
from harness.service.rules import Rules, RulesFile
from harness.service.settings import Settings
from harness.service.working import evaluate_job, store_outcome
from harness.store.database import Database
from harness.text import clean

IDLE_S = 0.5
BEATS_PER_LEASE = 10
STUBBORN_S = 60.0
"""How long an evaluation that was told to stop may take to do so, before the process ends itself."""

MAX_TEXT = 160


class StopEvaluation(BaseException):
    """Ends an evaluation, past every handler of errors. No error: the job is somebody else's, or is given back."""


class WorkerLoop:
    """Leases and evaluates until it is told to stop.

    Args:
        database: of the service.
        settings: of the server.
        worker: what it takes.
        evaluator: does the work.
        replayed: the targets that some worker replays: builds for others are done once they are checked.
        server: the process that started this one.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        worker: Worker,
        evaluator: Evaluator,
        replayed: frozenset[str],
        server: int,
    ) -> None:
        self._database, self._settings, self._worker = database, settings, worker
        self._evaluator, self._replayed = evaluator, replayed
        self._rules = RulesFile(settings.root)
        self._stopping, self._ended = threading.Event(), threading.Event()
        self._lease: Lease | None = None
        self._progress: dict[str, Any] | None = None
        self._over: Lease | None = None  # the lease that the signal to stop is about, lest it end the next job
        self._evaluating = False
        self._main, self._server = threading.get_ident(), server

    def run(self) -> None:
        """Work until SIGTERM or SIGINT, or until the process that started this one is gone."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            signal.signal(number, self._on_signal)
        with self._database.write() as connection:
            register_worker(connection, self._worker.id, self._worker.stage, self._worker.targets, time.time())
        beats = threading.Thread(target=self._beat, name="beats", daemon=True)
        beats.start()
        tell("worker started", worker=self._worker.id, stage=self._worker.stage)
        while not self._stopping.is_set():
            try:
                worked = self._work()
            except HarnessError as error:  # the database is out of reach: the lease decides what becomes of the job
                warn("worker failed", error=error, worker=self._worker.id)
                worked = False
            if not worked:
                self._stopping.wait(IDLE_S)
        self._ended.set()
        beats.join()
        with self._database.write() as connection:
            forget_worker(connection, self._worker.id)
        tell("worker stopped", worker=self._worker.id)

    def _work(self) -> bool:
        """Do the next job; return whether there was one."""
        limits = self._settings.limits
        with self._database.read() as connection:
            rules = self._rules.current(connection)  # before there is a lease: no job should pay for a broken file
        with self._database.write() as connection:
            lease = lease_job(connection, self._worker, limits, time.time())
        if lease is None:
            return False
        with self._database.write() as connection:
            begun = start_job(connection, lease, limits, time.time())
        if not begun:
            return True
        started_s = time.monotonic()
        self._progress, self._lease = None, lease
        try:
            became = self._evaluate(lease, rules)
        finally:
            self._lease = None
        facts = {"job": lease.job.id, "team": lease.job.team, "problem": lease.job.problem, "attempt": lease.attempt}
        tell("job", stage=lease.job.stage, became=became, seconds=round(time.monotonic() - started_s, 3), **facts)
        return True

    def _evaluate(self, lease: Lease, rules: Rules) -> str:
        try:
            self._evaluating = True
            if self._stopping.is_set():  # the signal came before there was anything to stop
                raise StopEvaluation
            record = evaluate_job(self._database, self._settings.root, rules, self._evaluator, lease.job, self._listen)
            self._evaluating = False
        except StopEvaluation:
            self._evaluating = False
            if self._over is lease:
                return "lost"
            with self._database.write() as connection:
                return "given back" if release_job(connection, lease, time.time()) else "lost"
        return store_outcome(self._database, lease, record, self._replayed)

    def _listen(self, event: Event) -> None:
        if event.state == "printed":
            return  # what a submission prints is for its author's own machine
        text = clean(event.text)[:MAX_TEXT]
        self._progress = {"stage": event.stage, "text": text, "done": event.done, "total": event.total}

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if number != signal.SIGUSR1:
            self._stopping.set()
        elif self._over is not self._lease:
            return  # it comes late: the job that it was to stop has ended
        if self._evaluating:
            self._evaluating = False  # once: what ends an evaluation must not be ended itself
            raise StopEvaluation

    def _beat(self) -> None:
        told_s: float | None = None
        while not self._ended.wait(self._settings.limits.lease_s / BEATS_PER_LEASE):
            if os.getppid() != self._server:
                self._stopping.set()
                signal.pthread_kill(self._main, signal.SIGTERM)
            lease = self._lease
            try:
                alive = self._tell(lease)
            except HarnessError as error:
                warn("no heartbeat", error=error, worker=self._worker.id)
                continue
            if alive and not self._stopping.is_set():
                told_s = None
                continue
            told_s = told_s or time.monotonic()
            if lease is not None and lease is self._lease and not alive:
                self._over = lease
                signal.pthread_kill(self._main, signal.SIGUSR1)
            if time.monotonic() - told_s > STUBBORN_S:
                warn("worker does not stop", worker=self._worker.id)
                os._exit(1)

    def _tell(self, lease: Lease | None) -> bool:
        """Say that this worker lives; return whether the lease that it has, if it has one, still holds."""
        now_s = time.time()
        with self._database.write() as connection:
            see_worker(connection, self._worker.id, now_s)
            return lease is None or renew_lease(connection, lease, self._settings.limits, now_s, self._progress)
