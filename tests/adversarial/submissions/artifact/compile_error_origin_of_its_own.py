"""A launch that is neither Helion's nor Triton's, for rules that only refuse the latter.

How: the document claims another origin. Seen: follows from this design. Defence: origins are two words.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def other(plan):
    plan["steps"][-1]["origin"] = "pytorch"


forge_plan(other)
