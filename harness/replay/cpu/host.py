"""The host program of a plan: aten operations and written-out constants, on CPU tensors.

The plan is hostile. Only the operators that `harness.policy` lists for some division run; a result of another shape,
dtype or strides than the plan says ends the replay, because later steps rely on it: with other strides as unsupported,
since an operator may lay its result out in another way on a GPU, otherwise as the plan's fault. Fresh memory is
poisoned, so that what a kernel leaves unwritten shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from harness.plan import ConstantStep, Descriptor, Named, OpStep, Plan, Tensor, TensorMeta, Value
from harness.policy.operators import find_role
from harness.replay.cpu.faults import Fault, Unsupported
from harness.replay.poison import poison

MAX_TENSOR_BYTES = 4 << 30
_ALLOCATING = frozenset("empty empty_like empty_permuted empty_strided new_empty new_empty_strided".split())
_DROPPED = frozenset({"pin_memory"})
_GENERATOR = torch.Generator().manual_seed(0)


def run_op(step: OpStep, plan: Plan, tensors: dict[int, torch.Tensor]) -> None:
    """Execute one aten operation and add its results to `tensors`.

    Raises:
        Fault: its arguments are not of the form of a plan, or it gives another tensor than the plan says.
        Unsupported: there is no such operator on a CPU, or it lays its result out in another way.
    """
    where = {"operator": step.op, "submission_line": step.line}
    for out in step.outs:
        if out is not None and plan.tensors[out.number].size_bytes > MAX_TENSOR_BYTES:
            raise Unsupported(f"{step.op} makes a tensor of more than {MAX_TENSOR_BYTES} bytes", where)
    operator = _find(step.op)
    arguments = [_decode(value, tensors) for value in step.args]
    keywords = {name: _decode(value, tensors) for name, value in step.kwargs if name not in _DROPPED}
    try:
        result = operator(*arguments, **keywords)
    except Exception as error:
        detail = " ".join(str(error).split())[:300]
        raise Unsupported(f"{step.op} does not run on a CPU: {type(error).__name__} {detail}", where) from None
    results: Sequence[Any] = result if isinstance(result, (tuple, list)) else (result,)
    if len(results) != len(step.outs):
        raise Unsupported(f"{step.op} returned {len(results)} results, the plan says {len(step.outs)}", where)
    for out, value in zip(step.outs, results, strict=True):
        if out is None:
            continue
        _compare(value, plan.tensors[out.number], step.op, where)
        if step.op.split(".")[1] in _ALLOCATING:
            fill_with_poison(value)
        tensors[out.number] = value


def run_constant(step: ConstantStep, plan: Plan, tensors: dict[int, torch.Tensor]) -> None:
    """Add a tensor whose content the plan spells out."""
    meta = plan.tensors[step.out.number]
    if len(step.data) != meta.size_bytes or not meta.contiguous:
        raise Fault(f"a constant has {len(step.data)} bytes, its tensor {meta.size_bytes}")
    dtype = getattr(torch, meta.dtype)
    flat = torch.frombuffer(bytearray(step.data), dtype=dtype) if step.data else torch.empty(0, dtype=dtype)
    tensors[step.out.number] = flat.reshape(meta.shape)


def is_view(step: OpStep) -> bool:
    """Tell whether an operation only looks at its argument's memory in another way."""
    schema = _find(step.op)._schema
    aliases = [value.alias_info for value in (*schema.arguments, *schema.returns) if value.alias_info is not None]
    return bool(aliases) and not any(alias.is_write for alias in aliases)


def fill_with_poison(tensor: torch.Tensor) -> None:
    """Overwrite a tensor with what the judge knows as unwritten."""
    tensor.copy_(poison(tuple(tensor.shape), tensor.dtype, _GENERATOR))


def _find(op: str) -> Any:
    _, name, overload = op.split(".")
    packet = getattr(torch.ops.aten, name, None) if find_role(op, "open") is not None else None
    operator = getattr(packet, overload, None)
    if not isinstance(operator, torch._ops.OpOverload):
        raise Unsupported(f"the host program calls {op}, which CPU replay does not execute", {"operator": op})
    return operator


def _decode(value: Value, tensors: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, Tensor):
        return tensors[value.number]
    if isinstance(value, tuple):
        return [_decode(item, tensors) for item in value]
    if isinstance(value, Descriptor):
        raise Fault("the host program passes a tensor descriptor to an operator")
    if not isinstance(value, Named):
        return value
    if value.kind == "device":
        return torch.device("cpu")
    kinds = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}
    found = getattr(torch, value.name, None)
    if value.kind not in kinds or not isinstance(found, kinds[value.kind]):
        raise Fault(f"the host program names an unknown {value.kind}, {value.name}")
    return found


def _compare(value: Any, meta: TensorMeta, op: str, where: dict[str, Any]) -> None:
    dtype = getattr(torch, meta.dtype)
    if not isinstance(value, torch.Tensor) or value.dtype != dtype or tuple(value.shape) != meta.shape:
        raise Fault(f"{op} returned another tensor than the plan says, {meta.dtype} {list(meta.shape)}", where)
    if value.numel() > 1 and tuple(value.stride()) != meta.strides:
        raise Unsupported(f"{op} returned strides {list(value.stride())}, the plan says {list(meta.strides)}", where)
