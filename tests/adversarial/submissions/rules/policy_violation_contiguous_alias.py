"""Torch computes the answer; Helion only touches it last.

How: `contiguous` of a contiguous tensor is that tensor, but was listed as a copy. Filling the "copy" with the input
left the original looking untouched by any input, and torch was let compute on it. Seen: here, 2026-11 (CHECKED).
Defence: no operator that may return its argument's own memory is listed as one that makes memory.
"""
# expected: POLICY_VIOLATION host_operation

import torch
from forging import decoy, forge_plan


def custom_kernel(data):
    x, s = data
    mine, factor = torch.empty(x.shape, device="cuda"), torch.empty(s.shape, device="cuda")
    mine.copy_(x)
    factor.copy_(s)
    return decoy(mine * factor[:, None])


def through_alias(plan):
    steps = []
    for step in plan["steps"]:
        if step.get("op") == "aten.copy_.default":
            original, alias = step["args"][0]["tensor"], len(plan["tensors"])
            plan["tensors"].append(plan["tensors"][original])
            made = {"op": "aten.contiguous.default", "args": [{"tensor": original}], "kwargs": {}, "outs": [alias]}
            steps.append({**made, "line": 1})
            step["args"][0] = {"tensor": alias}
        steps.append(step)
    plan["steps"] = steps


forge_plan(through_alias)
