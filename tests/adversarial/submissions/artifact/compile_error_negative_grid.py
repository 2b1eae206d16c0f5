"""A launch of minus one programs.

How: for a runner that multiplies sizes. Seen: follows from this design. Defence: sizes have ranges.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def backwards(plan):
    plan["steps"][-1]["grid"] = [-1, 1, 1]


forge_plan(backwards)
