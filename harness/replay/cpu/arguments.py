"""Kernel arguments: a plan's values in the types that the kernel was compiled for.

The plan is hostile: an argument that no parameter takes, a parameter without a value or a value that is not of
its declared type is a fault. A tensor becomes a pointer that knows which memory it may reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle
from triton.runtime.jit import mangle_type

from harness.plan import Argument, Descriptor, Named, Tensor, Value
from harness.replay.cpu.bounds import Region, TrackedPointer
from harness.replay.cpu.faults import Fault, Unsupported
from harness.replay.cpu.interpreter import semantic
from harness.replay.cpu.kernels import Kernel
from harness.replay.cpu.numerics import make, numpy_type

Tensors = Mapping[int, torch.Tensor]


def bind(
    kernel: Kernel, arguments: tuple[Argument, ...], tensors: Tensors
) -> tuple[dict[str, Any], tuple[Region, ...]]:
    """Return a kernel's argument values, and the memory that its pointers may reach.

    Raises:
        Fault: the arguments do not fit the kernel's parameters.
    """
    values: dict[str, Any] = {}
    regions: list[Region] = []
    for argument in arguments:
        if argument.name not in kernel.parameters:
            raise Fault(f"the kernel {kernel.name} has no parameter {argument.name}")
        is_constant = argument.name in kernel.constexprs
        values[argument.name] = _bind_value(argument, argument.value, tensors, regions, is_constant)
    missing = [name for name in kernel.parameters if name not in values]
    required = [name for name in missing if name not in _defaults(kernel)]
    if required:
        raise Fault(f"the launch of {kernel.name} gives no value for {required[0]}")
    return values, tuple(regions)


def _defaults(kernel: Kernel) -> tuple[str, ...]:
    count = len(kernel.function.__defaults__ or ())
    return kernel.parameters[len(kernel.parameters) - count :]


def _bind_value(argument: Argument, value: Value, tensors: Tensors, regions: list[Region], constant: bool) -> Any:
    if isinstance(value, Tensor):
        return _pointer(argument, value.number, tensors, regions)
    if isinstance(value, Descriptor):
        return _descriptor(argument, value, tensors, regions)
    if isinstance(value, tuple):
        return tl.tuple([_bind_value(argument, item, tensors, regions, constant) for item in value])
    if isinstance(value, Named):
        if value.kind != "triton_dtype":
            raise Unsupported(f"the argument {argument.name}, a {value.kind}, is not interpreted")
        return tl.str_to_ty(value.name, None)
    if constant or value is None or isinstance(value, str):
        return value
    return _scalar(argument.type, value)


def _scalar(kind: str, value: bool | int | float) -> Any:
    if kind == "constexpr":
        return semantic.to_tensor(value)
    dtype = tl.str_to_ty(kind, None)
    if isinstance(value, float):
        handle = make(np.array([value], np.float64), dtype) if dtype.is_floating() else None
    elif dtype.is_floating():
        handle = make(np.array([float(value)], np.float64), dtype)
    elif dtype == tl.int1:
        handle = TensorHandle(np.array([bool(value)]), dtype)
    else:
        handle = TensorHandle(np.array([value]).astype(numpy_type(dtype)), dtype)
    if handle is None:
        raise Fault(f"an argument of type {kind} is given the value {value}")
    return tl.tensor(handle, dtype)


def _pointer(argument: Argument, number: int, tensors: Tensors, regions: list[Region]) -> Any:
    tensor = tensors[number]
    region = _region(argument.name, number, tensor)
    regions.append(region)
    kind = argument.type if argument.type.startswith("*") else mangle_type(tensor)
    dtype = TrackedPointer(tl.str_to_ty(kind, None).element_ty, region)
    return tl.tensor(TensorHandle(np.array([region.address], np.uint64), dtype), dtype)


def _region(name: str, number: int, tensor: torch.Tensor) -> Region:
    storage = tensor.untyped_storage()
    return Region(
        name=name,
        start=storage.data_ptr(),
        end=storage.data_ptr() + storage.nbytes(),
        address=tensor.data_ptr(),
        itemsize=tensor.element_size(),
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        tensor=number,
    )


def _descriptor(argument: Argument, value: Descriptor, tensors: Tensors, regions: list[Region]) -> Any:
    base = _pointer(argument, value.base.number, tensors, regions)
    strides = [semantic.to_tensor(stride) for stride in value.strides[:-1]] + [tl.constexpr(1)]
    if not value.strides or value.strides[-1] != 1:
        raise Fault(f"the descriptor {argument.name} is not contiguous in its last dimension")
    return semantic.make_tensor_descriptor(
        base,
        [semantic.to_tensor(size) for size in value.shape],
        strides,
        [tl.constexpr(size) for size in value.block_shape],
        padding_option=value.padding,
    )
