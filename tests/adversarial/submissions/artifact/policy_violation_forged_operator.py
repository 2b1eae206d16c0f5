"""A torch operator that was never run is in the plan.

How: the plan's document gets a matrix product. Seen: follows from this design: the tracer is the attacker's. Defence:
operators are an allow-list, applied to the document.
"""
# expected: POLICY_VIOLATION host_operation

from forging import custom_kernel, forge_plan  # noqa: F401


def with_sum(plan):
    new = len(plan["tensors"])
    plan["tensors"].append([[4], [1], "float32", 0])
    step = {"op": "aten.sum.dim_IntList", "args": [{"tensor": plan["inputs"][0]}, [1]], "kwargs": {}, "outs": [new]}
    plan["steps"].insert(0, {**step, "line": 1})


forge_plan(with_sum)
