"""A failure whose traceback is of no form at all.

How: lines that are negative, infinite or lists, functions that are objects, a message of a megabyte. Seen: follows from
this design. Defence: what is no number or text counts as none, and texts are cut.
"""
# expected: COMPILE_ERROR call_error

import os

from forging import custom_kernel, tracer  # noqa: F401

LINES = [{"line": -5, "function": {"a": 1}, "text": ["x"]}, {"line": 1e308}, 7, None, [[[[]]]]]
event = {"event": "failed", "shape": None, "reason": "call_error", "message": "m" * 20_000, "traceback": LINES}
tracer()[0](event)
os._exit(0)
