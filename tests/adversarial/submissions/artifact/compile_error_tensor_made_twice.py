"""A decoy launch, then the answer by torch under the same number.

How: the plan defines the decoy's output a second time, as the result of a torch operator, after the launch. Seen: here,
2026-11. Defence: a tensor of a plan is made once.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def twice(plan):
    copy = {"op": "aten.clone.default", "args": [{"tensor": plan["inputs"][0]}], "kwargs": {}, "outs": plan["outputs"]}
    plan["steps"].append({**copy, "line": 1})


forge_plan(twice)
