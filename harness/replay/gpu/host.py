"""The host program of a plan on a GPU: aten operations of the division's allow-list, run by torch.

The plan is hostile. An operator outside the allow-list never runs, nor does one that would return something else than
the plan's tensors; values are looked at by nobody. Runs inside a graph capture, so nothing here may synchronise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from harness.plan import Descriptor, Named, OpStep, Tensor, TensorMeta, Value
from harness.policy.operators import find_role
from harness.replay.gpu.faults import GpuError

_LIBRARY_FAULT = re.compile(r"CUBLAS_STATUS_|CUDNN_STATUS_|CUDA error|NVRTC")
_DROPPED = frozenset({"pin_memory"})
_KINDS = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}


def find_operator(op: str, division: str) -> Any:
    """Return the torch operator of a plan's step.

    Raises:
        GpuError: the division does not allow it, or torch has none of this name.
    """
    namespace, name, overload = op.split(".")
    if find_role(op, division) is None or namespace != "aten":
        raise GpuError(
            "unsupported_kernel", f"the host program calls {op}, which the {division} division does not allow"
        )
    operator = getattr(getattr(torch.ops.aten, name, None), overload, None)
    if not isinstance(operator, torch._ops.OpOverload):
        raise GpuError("internal", f"the host program calls {op}, which torch {torch.__version__} does not have")
    return operator


def run_operator(
    step: OpStep, operator: Any, metas: Sequence[TensorMeta], tensors: Mapping[int, torch.Tensor], device: torch.device
) -> dict[int, torch.Tensor]:
    """Run one operation and return its results by number.

    Raises:
        GpuError: torch does not run it on a GPU or not in a graph, or it returned other tensors than the plan says.
    """
    arguments = [_decode(value, tensors, device) for value in step.args]
    keywords = {name: _decode(value, tensors, device) for name, value in step.kwargs if name not in _DROPPED}
    try:
        result = operator(*arguments, **keywords)
    except Exception as error:
        raise _blame_operator(step.op, error, device) from None
    results: Sequence[Any] = result if isinstance(result, (tuple, list)) else (result,)
    if len(results) != len(step.outs):
        raise GpuError("internal", f"{step.op} returned {len(results)} results, the plan says {len(step.outs)}")
    made = {}
    for out, value in zip(step.outs, results, strict=True):
        if out is not None:
            _compare(value, metas[out.number], step.op)
            made[out.number] = value
    return made


def _blame_operator(op: str, error: Exception, device: torch.device) -> Exception:
    """Return the fault of an operator that failed; what torch says of memory and of the GPU itself is left as it is."""
    told = " ".join(str(error).split())[:200]
    if isinstance(error, torch.OutOfMemoryError):
        return error
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return GpuError("unsupported_kernel", f"the host program's {op} cannot be captured into a CUDA graph: {told}")
    if isinstance(error, torch.AcceleratorError) or _LIBRARY_FAULT.search(told):
        return error
    return GpuError("unsupported_kernel", f"the host program's {op} does not run on a {device.type} device: {told}")


def _decode(value: Value, tensors: Mapping[int, torch.Tensor], device: torch.device) -> Any:
    if isinstance(value, Tensor):
        return tensors[value.number]
    if isinstance(value, tuple):
        return [_decode(item, tensors, device) for item in value]
    if isinstance(value, Descriptor):
        raise GpuError("unsupported_kernel", "the host program passes a tensor descriptor to an operator")
    if not isinstance(value, Named):
        return value
    if value.kind == "device":
        return device
    found = getattr(torch, value.name, None)
    if value.kind not in _KINDS or not isinstance(found, _KINDS[value.kind]):
        raise GpuError("unsupported_kernel", f"the host program names an unknown {value.kind}, {value.name}")
    return found


def _compare(value: Any, meta: TensorMeta, op: str) -> None:
    expected = (getattr(torch, meta.dtype), meta.shape)
    if not isinstance(value, torch.Tensor) or (value.dtype, tuple(value.shape)) != expected:
        raise GpuError(
            "unsupported_kernel", f"{op} returned another tensor than the plan says, {meta.dtype} {list(meta.shape)}"
        )
    if value.numel() > 1 and tuple(value.stride()) != meta.strides:
        raise GpuError("internal", f"{op} returned strides {value.stride()}, the plan says {list(meta.strides)}")
