"""An address of the submission's choice, as a number.

How: a pointer is passed as a 64-bit integer that the plan spells out. Seen: follows from launches by hand. Defence:
pointers are passed for pointers, and those are tensors of the plan.
"""
# expected: POLICY_VIOLATION launch_mismatch

from forging import custom_kernel, forge_plan  # noqa: F401


def by_number(plan):
    for argument in plan["steps"][-1]["args"]:
        if argument[0] == "s":
            argument[1:] = ["i64", 0x7F0000000000]


forge_plan(by_number)
