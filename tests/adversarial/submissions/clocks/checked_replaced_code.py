"""The tracer's own functions get other code.

How: `__code__` of what measures CPU time is replaced, so that no import of the name is needed. Seen: follows from
running in one process. Defence: what the tracer says of its cost is scaled to what the sandbox measured.
"""
# expected: CHECKED checked

from forging import custom_kernel  # noqa: F401

from harness.trace import child

child.cpu_s.__code__ = (lambda: 0.0).__code__
