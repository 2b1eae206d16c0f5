"""Submissions that were sent and have not ended yet: what `harness submit --resume` goes on with.

A file for each lies under `.harness/pending/`, from before anything is sent until its report has been shown. Until the
service has acknowledged a submission the file holds what was sent, so that it can be sent again with the same key.
"""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.engine.workspace import disk_error
from harness.errors import StoreError
from harness.store.codec import decode
from harness.store.ids import new_record_id
from harness.strict_json import parse_strict

FOLDER = "pending"


@dataclass(frozen=True)
class Pending:
    """One submission.

    Attributes:
        key: its idempotency key, new for each; sorts by time.
        url: the service's address.
        problem: what it is for.
        submission: its id, "" until the service has acknowledged it.
        document: what is sent, None once it has been acknowledged.
    """

    key: str
    url: str
    problem: str
    submission: str = ""
    document: dict[str, Any] | None = None

    def acknowledged(self, submission: str) -> Pending:
        """Return it as one that the service has."""
        return dataclasses.replace(self, submission=submission, document=None)


def new_key() -> str:
    """Return a new idempotency key."""
    return f"{new_record_id()}-{secrets.token_hex(8)}"


class PendingFolder:
    """The submissions under way, of one workspace.

    Args:
        state: the workspace's `.harness/`.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def save(self, pending: Pending) -> None:
        """Keep a submission, or what has become of it: whole, or not at all.

        Raises:
            HarnessError: the file cannot be written.
        """
        path = self._path(pending)
        fresh = path.with_suffix(".new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # It holds code that its team may want to keep to itself.
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(dataclasses.asdict(pending), file)
            fresh.replace(path)
        except OSError as error:
            raise disk_error(error, path) from None

    def forget(self, pending: Pending) -> None:
        """Remove a submission that has ended."""
        self._path(pending).unlink(missing_ok=True)

    def list(self) -> list[Pending]:
        """Return what is under way, the newest first; what cannot be read is passed over."""
        found = []
        for path in sorted(self._folder.glob("*.json"), reverse=True):
            try:
                found.append(decode(Pending, parse_strict(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError, StoreError):
                continue
        return found

    def _path(self, pending: Pending) -> Path:
        return self._folder / f"{pending.key}.json"
