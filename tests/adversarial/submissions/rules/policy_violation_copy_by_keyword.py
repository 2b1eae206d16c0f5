"""Torch computes the answer; Helion only touches it last.

How: the plan is edited so that `copy_` names its target by keyword. The policy then did not see which memory was
filled, took it for untouched by any input, and let torch multiply it. Seen: here, 2026-11 (CHECKED at that time).
Defence: an operator that works on its first argument's memory must name that first, by position.
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


def by_keyword(plan):
    for step in plan["steps"]:
        if step.get("op") == "aten.copy_.default":
            step["kwargs"] = {"self": step["args"][0], "src": step["args"][1]}
            step["args"] = []


forge_plan(by_keyword)
