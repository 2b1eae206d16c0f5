"""A launch of a million million programs.

How: each size is allowed, their product holds the GPU for days. Seen: follows from this design. Defence: programs are
capped, and calls have a time limit.
"""
# expected: POLICY_VIOLATION too_many_grid

from forging import custom_kernel, forge_plan  # noqa: F401


def endless(plan):
    plan["steps"][-1]["grid"] = [1 << 20, 1 << 15, 1 << 15]


forge_plan(endless)
