"""Worker processes: started, started again when they die, stopped in good order. And the recovery of what they left.

Workers are told which database by the environment, never by an argument: a URL may hold a password, and arguments are
everybody's to read.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.errors import HarnessError, UsageError
from harness.service.job import BUILD, REPLAY
from harness.service.logs import tell, warn
from harness.service.recovery import recover
from harness.service.settings import DATABASE, Settings
from harness.store.database import Database

KINDS = {"build": BUILD, "gpu": REPLAY}
LOOK_S = 0.5
LOOKS_PER_RECOVERY = 4
STOP_S = 20.0
MAX_PAUSE_S = 30.0


@dataclass(frozen=True)
class Crew:
    """Which workers a server has.

    Attributes:
        counts: how many of each kind of `KINDS`.
        targets: of the GPUs that they replay on.
        evaluator: as `make_evaluator` reads it.
    """

    counts: Mapping[str, int]
    targets: tuple[str, ...] = ()
    evaluator: str = "engine"

    @property
    def replayed(self) -> tuple[str, ...]:
        """The targets that are replayed: none without a worker for it."""
        return self.targets if self.counts.get("gpu") else ()


@dataclass
class _Seat:
    """A place for one worker, and the process that has it now."""

    kind: str
    process: subprocess.Popen[bytes] | None = None
    deaths: int = 0
    again_s: float = 0.0
    started_s: float = field(default_factory=time.monotonic)


def parse_counts(text: str) -> dict[str, int]:
    """Return how many workers of each kind "build=2,gpu=1" asks for.

    Raises:
        UsageError: it is not of that form.
    """
    counts: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        kind, _, number = part.strip().partition("=")
        if kind not in KINDS or not number.isdigit() or int(number) > 64:
            raise UsageError(f"{part[:40]!r} is no number of workers: write build=2,gpu=1")
        counts[kind] = int(number)
    return counts


class Supervisor:
    """The workers of one server."""

    def __init__(self, database: Database, settings: Settings, crew: Crew) -> None:
        self._database, self._settings, self._crew = database, settings, crew
        self._seats = [_Seat(kind) for kind, count in crew.counts.items() for _ in range(count)]
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def recover(self) -> None:
        """Take up what an earlier server left."""
        self._recover(at_start=True)

    def start(self) -> None:
        """Start the workers."""
        for seat in self._seats:
            self._fill(seat)
        self._thread.start()

    def stop(self) -> None:
        """Let every worker give its job back and end; one that does not is killed, and its job recovered."""
        self._stopping.set()
        if self._thread.ident is not None:  # it was started
            self._thread.join()
        running = [seat.process for seat in self._seats if seat.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + STOP_S
        for process in running:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._recover(at_start=True)

    def _watch(self) -> None:
        for look in itertools.count():
            if self._stopping.wait(LOOK_S):
                return
            died = [self._look_after(seat) for seat in self._seats]
            if any(died) or look % LOOKS_PER_RECOVERY == 0:
                self._recover(at_start=False)

    def _look_after(self, seat: _Seat) -> bool:
        """Start a seat's worker again if it has died; return whether it has just now."""
        died = seat.process is not None and seat.process.poll() is not None
        if seat.process is not None and seat.process.poll() is not None:
            lived_s = round(time.monotonic() - seat.started_s, 1)
            seat.deaths = seat.deaths + 1 if lived_s < MAX_PAUSE_S else 1
            pause_s = min(MAX_PAUSE_S, 2.0 ** (seat.deaths - 1) - 1)
            warn("worker died", kind=seat.kind, code=seat.process.returncode, lived_s=lived_s, pause_s=pause_s)
            seat.process, seat.again_s = None, time.monotonic() + pause_s
        if seat.process is None and time.monotonic() >= seat.again_s:
            self._fill(seat)
        return died

    def _fill(self, seat: _Seat) -> None:
        stage = KINDS[seat.kind]
        told = {
            "id": f"{stage}-{secrets.token_hex(6)}",
            "stage": stage,
            "targets": list(self._crew.targets) if stage == REPLAY else [],
            "replayed": list(self._crew.replayed),
            "evaluator": self._crew.evaluator,
            "root": str(self._settings.root),
            "server": os.getpid(),
        }
        command = [sys.executable, "-m", "harness.service", json.dumps(told)]
        environment = {**os.environ, DATABASE: self._settings.database_url}
        seat.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        seat.started_s = time.monotonic()

    def _recover(self, *, at_start: bool) -> None:
        try:
            with self._database.write() as connection:
                found = recover(connection, self._settings.limits, time.time(), at_start=at_start)
        except HarnessError as error:
            if at_start:
                raise
            warn("recovery failed", error=error)
            return
        if found.requeued or found.given_up:
            tell("recovered", requeued=list(found.requeued), given_up=list(found.given_up))
