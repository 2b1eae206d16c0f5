"""A kernel's text is a file somewhere else.

How: the name of the source is a path with `..`. Seen: path traversal, everywhere. Defence: names are hashes of
contents.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def elsewhere(plan):
    plan["steps"][-1]["source"] = "../../../../etc/passwd"


forge_plan(elsewhere)
