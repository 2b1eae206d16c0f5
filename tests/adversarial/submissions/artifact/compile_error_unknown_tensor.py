"""A step uses a tensor that does not exist.

How: a number beyond the list, for a reader that indexes. Seen: follows from this design. Defence: every number is
within bounds before anything else is looked at.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def beyond(plan):
    plan["outputs"] = [len(plan["tensors"]) + 5]


forge_plan(beyond)
