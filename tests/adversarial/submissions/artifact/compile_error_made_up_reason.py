"""A failure with a reason of its own making, full of control characters.

How: the event is forged. Seen: here, 2026-11. Defence: reasons are the tracer's own list; texts pass one gate before
they are shown.
"""
# expected: COMPILE_ERROR process_died

import os

from forging import custom_kernel, tracer  # noqa: F401

tracer()[0]({"event": "failed", "shape": None, "reason": "passed\x1b[2J\ud800", "message": "\x1b]0;mine\x07\u202e"})
os._exit(0)
