"""A tuple of tensors where the kernel takes one.

How: nested arguments, for a check that counts and a packer that flattens. Seen: follows from launches by hand. Defence:
the interpreter stops; the GPU's packer takes one value for a parameter.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_plan  # noqa: F401


def several(plan):
    for argument in plan["steps"][-1]["args"]:
        if argument[0] == "s":
            argument[2] = [argument[2], argument[2]]


forge_plan(several)
