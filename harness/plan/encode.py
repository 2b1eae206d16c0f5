"""A plan as a JSON document: what the tracer writes and the artifact keeps."""

from __future__ import annotations

import base64
import math
from typing import Any

from harness.plan.steps import ConstantStep, Descriptor, Named, OpStep, Plan, Step, Tensor, Value

FORMAT = 1


def encode_value(value: Value) -> Any:
    """Return the JSON form of an argument value."""
    if isinstance(value, Tensor):
        return {"tensor": value.number}
    if isinstance(value, Named):
        return {value.kind: value.name}
    if isinstance(value, Descriptor):
        fields = {"base": value.base.number, "shape": list(value.shape), "strides": list(value.strides)}
        return {"descriptor": fields | {"block_shape": list(value.block_shape), "padding": value.padding}}
    if isinstance(value, tuple):
        return [encode_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def encode_plan(plan: Plan) -> dict[str, Any]:
    """Return the JSON document of a plan."""
    return {
        "format": FORMAT,
        "shape_id": plan.shape_id,
        "tensors": [[list(t.shape), list(t.strides), t.dtype, t.offset] for t in plan.tensors],
        "inputs": list(plan.inputs),
        "outputs": list(plan.outputs),
        "output_kind": plan.output_kind,
        "import_steps": plan.import_steps,
        "steps": [_encode_step(step) for step in plan.steps],
    }


def _encode_step(step: Step) -> dict[str, Any]:
    if isinstance(step, OpStep):
        return {
            "op": step.op,
            "args": [encode_value(a) for a in step.args],
            "kwargs": {name: encode_value(v) for name, v in step.kwargs},
            "outs": [None if out is None else out.number for out in step.outs],
            "line": step.line,
        }
    if isinstance(step, ConstantStep):
        data = base64.b64encode(step.data).decode("ascii")
        return {"constant": step.out.number, "data": data, "line": step.line}
    return {
        "launch": step.kernel,
        "source": step.source,
        "function": step.function,
        "grid": list(step.grid),
        "args": [[a.name, a.type, encode_value(a.value)] for a in step.args],
        "origin": step.origin,
        "line": step.line,
    }
