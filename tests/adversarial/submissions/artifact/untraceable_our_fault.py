"""It was the harness's fault, says the submission.

How: the tracer's event for a bug of its own is forged. Then the verdict is HARNESS_ERROR, which counts against nobody
and wakes an organiser. Seen: here, 2026-11. Defence: such an event is believed only before the submission runs.
"""
# expected: UNTRACEABLE tracer_failed

import os

from forging import custom_kernel, tracer  # noqa: F401

tracer()[0]({"event": "failed", "shape": None, "reason": "harness_error", "message": "the disk is on fire"})
os._exit(0)
