"""The plan's form of what a submission passes about: sizes, numbers, dtypes, functions.

Owns the encoding of single values other than tensors, which are the recorder's. What has no form is refused here,
with the name of its type.
"""

from __future__ import annotations

from typing import Any

import torch
import triton.language as tl
from triton.runtime.jit import JITCallable

from harness.plan import Named, TensorMeta
from harness.trace.failures import TraceError

_TORCH_KINDS = {torch.layout: "layout", torch.memory_format: "memory_format", torch.dtype: "dtype"}


def encode_named(value: Any) -> Named:
    """Return the plan's form of a dtype, device, layout, memory format, Triton dtype or Triton function.

    Raises:
        TraceError: the value is of another type.
    """
    for kind, name in _TORCH_KINDS.items():
        if isinstance(value, kind):
            return Named(name, _bare(value))
    if isinstance(value, torch.device):
        return Named("device", "cuda")  # a plan runs on one GPU; what was meant for the host runs there too
    if isinstance(value, tl.dtype):
        return Named("triton_dtype", value.name)
    if isinstance(value, JITCallable):
        return Named("function", value.__name__)
    raise TraceError("unsupported_argument", f"an argument of type {type(value).__name__} cannot be part of a plan")


def describe_tensor(tensor: torch.Tensor) -> TensorMeta:
    """Return a tensor's form, with sizes, strides and offset in elements."""
    return TensorMeta(
        tuple(int(n) for n in tensor.shape),
        tuple(int(n) for n in tensor.stride()),
        _bare(tensor.dtype),
        int(tensor.storage_offset()),
    )


def find_storage(tensor: torch.Tensor) -> int:
    """Return what identifies a tensor's memory among all tensors that are alive."""
    return int(tensor.untyped_storage()._cdata)


def content_bytes(tensor: torch.Tensor) -> bytes:
    """Return a real tensor's elements in row-major order, little-endian."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def written_tensors(function: Any, args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the arguments that an operator declares to write."""
    written: list[torch.Tensor] = []
    for position, argument in enumerate(function._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        values = value if isinstance(value, (list, tuple)) else (value,)
        written.extend(item for item in values if isinstance(item, torch.Tensor))
    return written


def _bare(value: Any) -> str:
    return str(value).removeprefix("torch.")
