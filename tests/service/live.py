"""The app behind a real socket, in a thread of the test's own process: real HTTP, without the start of a process."""

from __future__ import annotations

import socket
import threading
import time

import requests
import uvicorn

from harness.service.http import Service
from harness.service.organising import found_team, give_token
from harness.service.server import make_config
from harness.service.settings import Limits, Settings
from harness.store.database import Database
from tests.service.event import WORKSPACE
from tests.service.server import bearer


class Live:
    """A service without workers, and ways to talk to it."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self.database = database
        self.service = Service(database, Settings(WORKSPACE, "", limits))
        listening = socket.socket(proto=socket.IPPROTO_TCP)  # else asyncio does not send small parts at once
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        self.port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = make_config(self.service)
        self.app = config.app
        config.timeout_keep_alive = 600  # lest it ends just when a test asks again
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)

    def admit(self) -> None:
        """Found two teams, and give each of them, and the organiser Ada, a token: `acme`, `bolt` and `ada`."""
        with self.database.write() as connection:
            now_s = self.service.now_s()
            for team in ("acme", "bolt"):
                found_team(connection, "test", team, "", now_s)
            self.acme = give_token(connection, "test", now_s, team="acme", days=1)[1]
            self.bolt = give_token(connection, "test", now_s, team="bolt", days=1)[1]
            self.ada = give_token(connection, "test", now_s, holder="ada", days=1)[1]

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(60)

    def get(self, path: str, token: str | None = None) -> requests.Response:
        return requests.get(self.url + path, headers=bearer(token), timeout=60)

    def post(self, path: str, token: str | None, document, **headers: str) -> requests.Response:
        return requests.post(self.url + path, json=document, headers=bearer(token) | headers, timeout=60)

    def open_connections(self) -> int:
        """How many connections the server has."""
        return len(self._server.server_state.connections)
