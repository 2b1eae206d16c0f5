"""No tensor where the kernel takes one.

How: an argument of the document is null. Seen: follows from launches by hand. Defence: the interpreter stops; on a GPU
the access faults, by the kernel's name.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_plan  # noqa: F401


def null(plan):
    for argument in plan["steps"][-1]["args"]:
        if argument[0] == "s":
            argument[2] = None


forge_plan(null)
