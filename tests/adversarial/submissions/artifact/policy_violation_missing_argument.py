"""A launch with fewer arguments than its code takes.

How: the last pointer then comes from whatever lies behind the parameter block. Seen: follows from launches by hand.
Defence: arguments are counted against the compiled kernel.
"""
# expected: POLICY_VIOLATION launch_mismatch

from forging import custom_kernel, forge_plan  # noqa: F401


def shorter(plan):
    arguments = plan["steps"][-1]["args"]
    position = next(i for i, (name, kind, value) in enumerate(arguments) if name == "s")
    del arguments[position]


forge_plan(shorter)
