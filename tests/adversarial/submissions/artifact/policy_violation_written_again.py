"""The kernel's output is overwritten after the launch, by a copy of an input.

How: one step more in the document. Seen: follows from this design. Defence: the last writer counts, in any order that
the document has.
"""
# expected: POLICY_VIOLATION output_not_from_kernel

from forging import custom_kernel, forge_plan  # noqa: F401


def again(plan):
    pair = [{"tensor": plan["outputs"][0]}, {"tensor": plan["inputs"][0]}]
    plan["steps"].append({"op": "aten.copy_.default", "args": pair, "kwargs": {}, "outs": [None], "line": 1})


forge_plan(again)
