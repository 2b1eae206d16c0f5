"""What a database's error means for the person who meets it.

Owns the translation from drivers' exceptions to `StoreError`; every message says what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from harness.errors import StoreError

_MEANINGS = (
    (("database is locked", "database table is locked", "database schema is locked"),
     "the board database {place} is locked: another process has been writing to it for longer than {timeout:g} s. "
     "Wait for it to end and try again; if none runs, look for a stopped one (`fuser {place}`)"),
    (("database or disk is full", "no space left"),
     "the disk that holds the board database {place} is full, so nothing could be stored. Free some space there "
     "and submit again; what was stored before is safe"),
    (("readonly database", "read-only"),
     "the board database {place} cannot be written to. Give this user write access to the file and its folder, "
     "or name another database"),
    (("unable to open database file", "cannot open"),
     "the board database {place} cannot be opened. Its folder must exist and be accessible to this user"),
    (("not a database", "malformed", "file is encrypted"),
     "{place} is not a board database, or it is damaged. Move it away to start a new one, or restore a copy"),
    (("connection refused", "could not connect", "connection failed", "failed: no such file", "connection is bad",
      "server closed the connection", "connection to server"),
     "the board database {place} cannot be reached. Is it running, and is its URL right? Nothing was stored"),
    (("disk i/o error",),
     "reading or writing the board database {place} failed: the disk is failing, full, or over its quota. "
     "Check it and try again"),
)  # fmt: skip


@contextmanager
def explained(place: str, timeout_s: float) -> Iterator[None]:
    """Turn a database's exceptions into `StoreError`s that say what to do.

    Args:
        place: how the database is named to people: a path, or a URL without its password.
        timeout_s: how long a lock was waited for.
    """
    try:
        yield
    except DatabaseError as error:
        raise StoreError(explain(str(error.orig), place, timeout_s)) from error
    except SQLAlchemyError as error:
        raise StoreError(f"the board database {place} cannot be used: {_first_line(error)}") from error


def explain(text: str, place: str, timeout_s: float) -> str:
    """Return what a driver's error text means, and what to do."""
    for needles, meaning in _MEANINGS:
        if any(needle in text.lower() for needle in needles):
            return meaning.format(place=place, timeout=timeout_s)
    return f"the board database {place} refused: {text}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
