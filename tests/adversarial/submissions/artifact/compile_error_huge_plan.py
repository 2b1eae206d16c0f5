"""A plan of many MiB, which would take twenty times that in the parent's memory.

How: the tracer's document is padded with arguments. Seen: here, 2026-11.
Defence: files are capped one by one and together, before they are read.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def huge(plan):
    plan["steps"][-1]["args"] += [[f"a{i}", "constexpr", [[0] * 4096] * 9] for i in range(100)]


forge_plan(huge)
