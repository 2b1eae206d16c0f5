"""The trace's events: one JSON object a line, on a stream that the submission's prints do not reach.

Owns the stream and the form of the lines. `engine` reads them as hostile data: a submission can find the stream.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from harness.trace.failures import Failure

Emit = Callable[[dict[str, Any]], None]


def open_protocol() -> Emit:
    """Take standard output for events, and let everything else that is printed go to standard error."""
    stream = os.dup(1)
    os.set_inheritable(stream, False)
    os.dup2(2, 1)

    def emit(event: dict[str, Any]) -> None:
        line = memoryview(json.dumps(event).encode() + b"\n")
        while line:
            line = line[os.write(stream, line) :]

    return emit


def failed_event(shape: str | None, failure: Failure) -> dict[str, Any]:
    """Return the event of a failure: of one shape, or of the import (None)."""
    return {
        "event": "failed",
        "shape": shape,
        "reason": failure.reason,
        "message": failure.message,
        "traceback": [asdict(frame) for frame in failure.frames],
    }
