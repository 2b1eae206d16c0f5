"""Names and times of records: short, sortable, safe in URLs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import datetime, timezone

from harness.errors import UsageError

ID_CHARACTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")
"""What ids are made of; those of records from elsewhere, too."""

NO_ID = ""
"""In the place of the id of what is stored nowhere: a name that leads to nothing is none."""

_SHOWN = 5

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_EPOCH_MS = 1_700_000_000_000
_TIME_CHARACTERS, _RANDOM_CHARACTERS = 8, 6


def new_record_id(now_s: float | None = None) -> str:
    """Return a new id: 14 characters that sort by time and are safe in URLs and file names.

    Args:
        now_s: seconds since 1970; the clock's by default.
    """
    milliseconds = int((time.time() if now_s is None else now_s) * 1000) - _EPOCH_MS
    return _base32(max(milliseconds, 0), _TIME_CHARACTERS) + _base32(
        secrets.randbits(5 * _RANDOM_CHARACTERS), _RANDOM_CHARACTERS
    )


def pick_id(prefix: str, ids: Sequence[str]) -> str | None:
    """Return the only one of some ids that begin with `prefix`, or the one that it is; None where there is none.

    Raises:
        UsageError: it begins several; the message lists some.
    """
    matching = [prefix] if prefix in ids else [one for one in ids if one.startswith(prefix)]
    if len(matching) > 1:
        listed = ", ".join(matching[:_SHOWN]) + (" and others" if len(matching) > _SHOWN else "")
        raise UsageError(f"{prefix[:40]!r} begins more than one record's id: {listed}. Give more of it")
    return matching[0] if matching else None


def utc_now(now_s: float | None = None) -> str:
    """Return the time of now in UTC, ISO 8601, to the second.

    Args:
        now_s: seconds since 1970; the clock's by default.
    """
    now = datetime.fromtimestamp(time.time() if now_s is None else now_s, timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def _base32(number: int, characters: int) -> str:
    digits = []
    for _ in range(characters):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
