"""A tensor that is smaller than the plan says.

How: the document allocates one element and describes the whole output. Seen: here, as an attempt: it ended as nobody's
fault, again and again. Defence: what an operator gives is compared with what the plan says, and dtype and shape are the
plan's fault.
"""
# expected: RUNTIME_ERROR fault

from forging import custom_kernel, forge_plan  # noqa: F401


def smaller(plan):
    for step in plan["steps"]:
        if step.get("op", "").startswith("aten.empty"):
            step["args"][0] = [1]


forge_plan(smaller)
