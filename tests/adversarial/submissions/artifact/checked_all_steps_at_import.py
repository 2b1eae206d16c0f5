"""All steps are said to have happened at import, before anything is timed.

How: the plan's count of import-time steps is all of them. Seen: follows from this design. Defence: the count is for
people; every step that an output depends on is timed.
"""
# expected: CHECKED checked

from forging import custom_kernel, forge_plan  # noqa: F401


def at_import(plan):
    plan["import_steps"] = len(plan["steps"])


forge_plan(at_import)
