"""Structured logs: one JSON object a line, on stderr.

What is logged is chosen field by field, so that no token, no header and no line of a submission gets there by accident.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from typing import Any

from harness.store.ids import utc_now
from harness.text import clean

MAX_TEXT = 2000
LOGGER = logging.getLogger("harness.service")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Write a line; a message of a library's is a text, ours is an event's name with fields."""
        fields: dict[str, Any] = {"at": utc_now(), "level": record.levelname.lower(), "event": record.getMessage()}
        fields |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            # The frames only: an exception's own text may hold what somebody sent.
            frames = traceback.extract_tb(record.exc_info[2])[-12:]
            fields["error"] = type(record.exc_info[1]).__name__
            fields["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps({name: _plain(value) for name, value in fields.items()}, ensure_ascii=True)


def configure(level: int = logging.INFO) -> None:
    """Send this process's logs to stderr in this form."""
    # What no line says need not be found out for each: where in the code, in which thread.
    logging._srcfile = None  # as the manual of `logging` has it
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    LOGGER.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "alembic"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
        logging.getLogger(name).setLevel(logging.WARNING)


def tell(event: str, **fields: Any) -> None:
    """Log that something happened."""
    LOGGER.info(event, extra={"fields": fields})


def warn(event: str, *, error: BaseException | None = None, **fields: Any) -> None:
    """Log that something went wrong, with where if there was an error."""
    LOGGER.warning(event, extra={"fields": fields}, exc_info=error)


def _plain(value: Any) -> Any:
    return clean(value)[:MAX_TEXT] if isinstance(value, str) else value
