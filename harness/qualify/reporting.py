"""How a child process that runs organisers' Python reports: JSON lines on a private copy of stdout.

What the organiser's modules print goes to stderr. The last line is the result, or {"error": {"kind": ..., "message":
...}} with kind "spec" for a fault of the problem's folder, "internal" for one of ours.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from typing import Any

import torch

from harness.errors import HarnessError, UsageError

Send = Callable[[dict[str, Any]], None]


def report(work: Callable[[Send], dict[str, Any]]) -> int:
    """Do the work, which may send messages of its own, and send its result or its error; return the exit code."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message, allow_nan=False) + "\n")

    torch.set_num_threads(1)  # most tensors are small, and other threads would only wait
    try:
        send(work(send))
    except UsageError as error:
        send({"error": {"kind": "spec", "message": str(error)}})
    except Exception as error:
        traceback.print_exception(error)
        text = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
        send({"error": {"kind": "internal", "message": text}})
    return 0
