"""A plan in a circle: a step uses what a later step makes.

How: the steps are put into the reverse order. Seen: follows from this design. Defence: a tensor is defined before it is
used.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401

forge_plan(lambda plan: plan["steps"].reverse())
