"""A number that no register holds.

How: an argument of a thousand digits, for a packer that overflows. Seen: follows from launches by hand. Defence:
numbers have ranges.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def large(plan):
    plan["steps"][-1]["args"].append(["n", "i64", 10**1000])


forge_plan(large)
