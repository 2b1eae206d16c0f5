"""A build that took no time, says the build.

How: events with a cost of nothing, of less than nothing, and of no number are sent before the tracer's own. Seen:
follows from this design: the compile budget is worth something. Defence: the budget is charged with the sandbox's
measurement.
"""
# expected: CHECKED checked

from forging import custom_kernel, tracer  # noqa: F401

for cost in (0, -1e9, float("nan"), float("inf"), "none", [1]):
    tracer()[0]({"event": "imported", "cpu_s": cost, "wall_s": cost, "warnings": []})
