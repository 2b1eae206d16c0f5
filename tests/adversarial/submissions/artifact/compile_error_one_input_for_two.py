"""Two inputs are one tensor.

How: the document lists a number twice, so that one placement serves two. Seen: follows from this design. Defence: an
input is listed once.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def same(plan):
    plan["inputs"][1] = plan["inputs"][0]


forge_plan(same)
