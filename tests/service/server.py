"""A real server in a process of its own, and somebody who talks to it."""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import requests

ENOUGH_S = 400.0
"""Longer than anything takes on a machine that is busy with other things."""

_keys = itertools.count()


class Server:
    """`harness serve` in a repository, on a port of its own."""

    def __init__(self, root: Path, database_url: str, *options: str, **environment: str) -> None:
        self.root, self.database_url = root, database_url
        self._options, self._environment = options, environment
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "harness", "serve", "--port", "0", *self._options]
        environment = {**os.environ, "HARNESS_DATABASE_URL": self.database_url, **self._environment}
        self.log = self.root / f"server-{next(_keys)}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=self.root, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until it says where it is, and is ready there."""
        deadline = time.monotonic() + ENOUGH_S
        while (told := re.search(r"the service is at (http://\S+) ", self.log.read_text())) is None:
            self._check(deadline)
        self.url = told[1]
        while True:
            try:
                if requests.get(f"{self.url}/readyz", timeout=120).status_code == 200:
                    return
            except requests.ConnectionError:
                pass
            self._check(deadline)

    def _check(self, deadline: float) -> None:
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        assert time.monotonic() < deadline, self.log.read_text()[-3000:]
        time.sleep(0.02)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(ENOUGH_S)

    def kill(self) -> None:
        """kill -9 of the server and its workers, all at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def get(self, path: str, token: str | None = None, **options) -> requests.Response:
        return requests.get(self.url + path, headers=bearer(token), timeout=120, **options)

    def post(self, path: str, token: str | None, document, **headers: str) -> requests.Response:
        return requests.post(self.url + path, json=document, headers=bearer(token) | headers, timeout=120)

    def submit(self, token: str, source: str, key: str | None = None, **fields) -> requests.Response:
        headers = {"Idempotency-Key": key or f"test-key-{next(_keys):06}"}
        return self.post("/api/v1/submissions", token, document(source, **fields), **headers)

    def wait_done(self, submission: str, enough_s: float = ENOUGH_S) -> dict:
        deadline = time.monotonic() + enough_s
        while (state := self.get(f"/api/v1/submissions/{submission}").json())["state"] != "done":
            assert time.monotonic() < deadline, (state, self.log.read_text()[-3000:])
            time.sleep(0.5)
        return state

    def admin(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "harness", "admin", *arguments]
        environment = {**os.environ, "HARNESS_DATABASE_URL": self.database_url}
        result = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=True)
        return result.stdout


def document(source: str, **fields) -> dict:
    content = base64.b64encode(source.encode()).decode()
    return {"format": 1, "problem": "scale", "files": {"submission.py": content}, **fields}


def bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def log_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
