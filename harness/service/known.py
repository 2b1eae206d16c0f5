"""Whose token is whose, remembered for a few seconds: in a rush, nobody's body waits for a look into the database.

What is remembered lets a body be read and nothing else: whether the token is still valid is asked again in the
transaction that takes what it says. Tokens are remembered by their hashes.
"""

from __future__ import annotations

import hashlib
import time

from harness.service.teams import Holder

AGE_S = 5.0
MOST = 4096


class Known:
    """Who has shown a valid token just now."""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[float, Holder]] = {}

    def find(self, authorization: str) -> Holder | None:
        """Return who has sent this `Authorization` header in the last seconds."""
        kept = self._kept.get(_hash(authorization))
        return kept[1] if kept is not None and time.monotonic() - kept[0] < AGE_S else None

    def keep(self, authorization: str, holder: Holder) -> None:
        """Remember somebody whose token was found in the database."""
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[_hash(authorization)] = time.monotonic(), holder


def _hash(authorization: str) -> bytes:
    return hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).digest()
