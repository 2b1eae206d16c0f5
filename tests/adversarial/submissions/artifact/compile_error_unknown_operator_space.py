"""An operator outside of torch's own.

How: the plan names one of a library that the runner may have loaded, `quantized` or `_c10d_functional`. Seen: follows
from this design. Defence: as forged operators; here even the name has to be one.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_plan  # noqa: F401


def elsewhere(plan):
    step = {"op": "os.system.__call__('id')", "args": ["id"], "kwargs": {}, "outs": [], "line": 1}
    plan["steps"].insert(0, step)


forge_plan(elsewhere)
