"""The inputs come transposed, and nobody is charged for it.

How: the plan claims other strides for an input than a contiguous tensor's. A replay places its inputs as the plan
describes them, outside of the clock. Seen: here, 2026-11.
Defence: a plan's inputs must have the problem's shape, dtype and layout.
"""
# expected: POLICY_VIOLATION input_form

from forging import custom_kernel, forge_plan  # noqa: F401


def transposed(plan):
    sizes = plan["tensors"][plan["inputs"][0]][0]
    plan["tensors"][plan["inputs"][0]][1] = [1, sizes[0]]


forge_plan(transposed)
