"""The kernel is said to get the output, as a constant that no code takes.

How: the output's argument is marked `constexpr`, so that the launch counts as its writer without touching it. Seen:
here, 2026-11. Defence: constants are not passed, and count for nothing.
"""
# expected: POLICY_VIOLATION output_not_from_kernel

from forging import custom_kernel, forge_plan  # noqa: F401


def constant(plan):
    for argument in plan["steps"][-1]["args"]:
        if argument[0] == "y":
            argument[1] = "constexpr"


forge_plan(constant)
