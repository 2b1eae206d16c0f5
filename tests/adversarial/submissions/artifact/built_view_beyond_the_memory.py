"""A view that begins behind the end of its tensor, where other tensors lie.

How: `as_strided` with an offset is put into the document, and the kernel gets it for an input. Seen: follows from this
design. Defence: torch checks a view against its memory, on the CPU and on the GPU; nothing runs.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_plan  # noqa: F401


def beyond(plan):
    new, offset = len(plan["tensors"]), 4096
    shape, strides, dtype, _ = plan["tensors"][plan["inputs"][0]]
    plan["tensors"].append([shape, strides, dtype, offset])
    args = [{"tensor": plan["inputs"][0]}, shape, strides, offset]
    plan["steps"].insert(0, {"op": "aten.as_strided.default", "args": args, "kwargs": {}, "outs": [new], "line": 1})
    for argument in plan["steps"][-1]["args"]:
        if argument[0] == "x":
            argument[2] = {"tensor": new}


forge_plan(beyond)
