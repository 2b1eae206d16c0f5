"""Tens of thousands of events, most of them nonsense.

How: for a parent that keeps them all, or trips over one. Seen: follows from this design. Defence: what is not an
expected event is dropped, and output is bounded.
"""
# expected: COMPILE_ERROR process_died

import os

from forging import custom_kernel, tracer  # noqa: F401

emit = tracer()[0]
for event in (
    {},
    {"event": None},
    {"event": ["traced"]},
    {"event": "traced", "shape": {"a": 1}},
    {"event": "failed", "shape": 7},
):
    emit(event)
for number in range(20_000):
    emit({"event": "start", "shape": f"no-{number}"})
    emit({"event": "failed", "shape": f"no-{number}", "reason": "out_of_memory"})
os._exit(0)
