"""A live service, for attacks to share: each brings its own teams, and leaves the season as it was."""

from __future__ import annotations

import base64
import itertools
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests
from sqlalchemy import func, select

from harness.service.organising import found_team, give_token
from harness.service.rules import change_season
from harness.service.schema import jobs, metadata
from harness.service.settings import Limits
from harness.store.database import Database
from harness.store.schema import records
from tests.service.event import finish, lease, outcome
from tests.service.live import Live
from tests.service.server import document
from tests.service.walking import list_routes

LIMITS = Limits(pending=4, per_hour=12, body_bytes=400_000, body_s=120.0)
API = "/api/v1"
ENOUGH_S = 120.0


@dataclass(frozen=True)
class Team:
    """A team and a token of its own."""

    name: str
    token: str


class Arena:
    """The service, and ways to attack it."""

    def __init__(self, database: Database) -> None:
        self.database, self.live = database, Live(database, LIMITS)
        self.live.admit()
        self._asking = requests.Session()
        self.routes = list_routes(self.live.app)
        self._numbers = itertools.count(1)

    def stop(self) -> None:
        self._asking.close()
        self.live.stop()

    def now_s(self) -> float:
        return self.live.service.now_s()

    def team(self) -> Team:
        """A team that nobody else has."""
        name = f"team-{next(self._numbers)}x"
        with self.database.write() as connection:
            found_team(connection, "test", name, "", self.now_s())
        return Team(name, self.token(name))

    def token(self, team: str, days: float = 1.0) -> str:
        with self.database.write() as connection:
            return give_token(connection, "test", self.now_s(), team=team, days=days)[1]

    def organiser(self) -> str:
        return self.live.ada

    def new_organiser(self) -> str:
        with self.database.write() as connection:
            return give_token(connection, "test", self.now_s(), holder="eve", days=1)[1]

    def key(self) -> str:
        return f"attack-{next(self._numbers):06}"

    def get(self, path: str, token: str | None = None, **headers: str) -> requests.Response:
        who = {"Authorization": f"Bearer {token}"} if token else {}
        return self._asking.get(self.live.url + path, headers=who | headers, timeout=ENOUGH_S, allow_redirects=False)

    def post(self, path: str, token: str | None, what: object, **headers: str) -> requests.Response:
        return self.live.post(path, token, what, **headers)

    def act(self, **what: object) -> requests.Response:
        return self.post(f"{API}/acts", self.live.ada, what)

    def submit(self, token: str | None, source: str = "", key: str = "", headers=None, **fields) -> requests.Response:
        body = document(source or f"# {next(self._numbers)}\ndef custom_kernel(data): ...", **fields)
        return self.post(f"{API}/submissions", token, body, **{"Idempotency-Key": key or self.key(), **(headers or {})})

    def conclude(self, name: str, score_us: float | None = 10.0, **changes: object) -> None:
        """Do all that waits, by a worker, up to a submission; it gets this outcome, and others pass no board."""
        while True:
            held = lease(self.database, now_s=self.now_s())
            assert held is not None, f"{name} does not wait"
            mine = held.job.id == name
            record = outcome(held.job, score_us, **changes) if mine else outcome(held.job)
            assert finish(self.database, held, record, now_s=self.now_s())
            if mine:
                return

    def drain(self) -> None:
        """Do all that waits."""
        while (held := lease(self.database, now_s=self.now_s())) is not None:
            assert finish(self.database, held, outcome(held.job), now_s=self.now_s())

    def count(self, team: Team, state: str = "") -> int:
        """How many submissions of a team there are."""
        query = select(func.count()).select_from(jobs).where(jobs.c.team == team.name)
        with self.database.read() as connection:
            return connection.execute(query.where(jobs.c.state == state) if state else query).scalar_one()

    def count_records(self, team: Team) -> int:
        query = select(func.count()).select_from(records).where(records.c.team == team.name)
        with self.database.read() as connection:
            return connection.execute(query).scalar_one()

    @contextmanager
    def clock(self, at_s: float) -> Iterator[None]:
        """Let the server's clock stand still at a moment."""
        self.live.service.now_s = lambda: at_s
        try:
            yield
        finally:
            del self.live.service.now_s

    @contextmanager
    def season(self, **changes: str | None) -> Iterator[None]:
        """Change the season for a while."""
        self._change(changes)
        try:
            yield
        finally:
            self._change({"opens": "2020-01-01T00:00Z", "closes": None, "code_visible": "after_close"})

    def _change(self, changes: dict[str, str | None]) -> None:
        with self.database.write() as connection:
            season = self.live.service.rules_file.current(connection).season
            change_season(connection, season, changes, "test", "an attack", self.now_s())

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.live.port), timeout=ENOUGH_S) as connection:
            yield connection

    def say(self, request: bytes) -> bytes:
        """Send bytes that ask for the end of the connection, and return all that is answered."""
        with self.connected() as connection:
            connection.sendall(request)
            found = b""
            try:
                while part := connection.recv(65536):
                    found += part
            except ConnectionResetError:
                pass
            return found

    def dump(self) -> dict[str, list[tuple[object, ...]]]:
        """Everything in the database, by table: to tell that nothing has changed."""
        with self.database.read() as connection:
            return {
                table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
                for table in (*metadata.sorted_tables, records)
            }


def want(response: requests.Response, status: int, kind: str) -> str:
    """Hold an answer against the refusal that it should be; return what it says."""
    told = response.json()
    assert (response.status_code, told["type"]) == (status, f"urn:helion-harness:{kind}"), (response.status_code, told)
    return told["detail"]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
