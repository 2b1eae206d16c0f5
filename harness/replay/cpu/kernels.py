"""Kernels made from checked sources, and their arguments.

The checked syntax tree itself is compiled, with its original line numbers, into a name space that holds the
language and nothing of Python but a few names; no text from the artifact is executed.
"""

from __future__ import annotations

import ast
import copy
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.language.extra.cuda import libdevice as device_library
from triton.runtime.interpreter import InterpretedFunction, TensorHandle
from triton.runtime.jit import mangle_type

from harness.plan import Argument, Descriptor, Named, Tensor, Value
from harness.replay.cpu import reductions
from harness.replay.cpu.bounds import Region, TrackedPointer
from harness.replay.cpu.faults import Fault, Unsupported
from harness.replay.cpu.interpreter import INTRINSICS, Rewriter, device_range, semantic
from harness.replay.cpu.numerics import make, numpy_type
from harness.replay.cpu.source import CheckedSource, Traits, check_source

Tensors = Mapping[int, torch.Tensor]
_INDUCTOR = "inductor_runtime"


class SourceFunction(InterpretedFunction):  # type: ignore[misc]
    """A function whose body has been rewritten already."""

    def rewrite(self) -> Callable[..., Any]:
        return self.fn  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Kernel:
    """One kernel function of a source.

    Attributes:
        name: the function's name.
        file: name of the source, as tracebacks show it.
        function: the callable that runs one program.
        parameters: names of the parameters, in order.
        constexprs: which of them are compile-time constants.
        traits: how its programs deal with one another.
        lines: the source's text, line by line.
    """

    name: str
    file: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    constexprs: frozenset[str]
    traits: Traits
    lines: tuple[str, ...]


def make_kernels(text: str, file: str) -> dict[str, Kernel]:
    """Check a Triton source and return its kernels by name.

    Args:
        text: the source.
        file: what tracebacks call it.

    Raises:
        Unsupported: the source holds something that is not on the allow-list.
    """
    checked = check_source(text)
    space = _name_space(checked)
    kernels = {}
    for name, tree in checked.functions.items():
        function = SourceFunction(_compile(tree, file, space))
        space[name] = function
        kernels[name] = Kernel(
            name=name,
            file=file,
            function=function.fn,
            parameters=tuple(function.arg_names),
            constexprs=checked.constexprs[name],
            traits=checked.traits[name],
            lines=checked.lines,
        )
    _rewrite_library(checked.used, space)
    return kernels


def _name_space(checked: CheckedSource) -> dict[str, Any]:
    space: dict[str, Any] = {
        "__builtins__": {},
        **INTRINSICS,
        **{"abs": abs, "bool": bool, "float": float, "int": int, "len": len, "range": device_range},
        **{"max": _extreme(max, tl.maximum), "min": _extreme(min, tl.minimum)},
        "tl": tl,
        "tl_math": tl.math,
        "libdevice": device_library,
        "helion_triton_helpers": SimpleNamespace(
            max_propagate_nan=reductions.max_propagate_nan, min_propagate_nan=reductions.min_propagate_nan
        ),
    }
    if any(name.startswith("triton_helpers.") for name in checked.used):
        space["triton_helpers"] = _inductor_helpers()
    space.update({name: tl.constexpr(value) for name, value in checked.constants.items()})
    return space


def _extreme(of_numbers: Callable[..., Any], of_tensors: Callable[..., Any]) -> Callable[..., Any]:
    """Return `max` or `min` as compiled Triton has it: for constants and for tensors."""

    def call(first: Any, second: Any) -> Any:
        if isinstance(first, tl.tensor) or isinstance(second, tl.tensor):
            return of_tensors(first, second)
        return of_numbers(first, second)

    return call


def _inductor_helpers() -> Any:
    """Load Inductor's helpers by their folder: importing `torch._inductor` would take seconds for nothing."""
    if _INDUCTOR not in sys.modules:
        package = ModuleType(_INDUCTOR)
        package.__path__ = [str(Path(torch.__file__).parent / "_inductor" / "runtime")]
        sys.modules[_INDUCTOR] = package
    helpers = importlib.import_module(f"{_INDUCTOR}.triton_helpers")
    # Inductor names a module of stubs, which the compiler replaces by CUDA's.
    vars(helpers)["libdevice"] = device_library
    return helpers


def _compile(tree: ast.FunctionDef, file: str, space: dict[str, Any]) -> Callable[..., Any]:
    rewritten = Rewriter().visit(copy.deepcopy(tree))
    module = ast.fix_missing_locations(ast.Module(body=[rewritten], type_ignores=[]))
    exec(compile(module, file, "exec", dont_inherit=True), space)
    return space[tree.name]  # type: ignore[no-any-return]


def _rewrite_library(names: frozenset[str], space: dict[str, Any]) -> None:
    """Rewrite Triton's own functions that the kernels call, here and not again in each forked worker."""
    todo, seen = [], set()
    for name in names:
        root, *path = name.split(".")
        found = space.get(root)
        for part in path:
            found = getattr(found, part, None)
        todo.append(found)
    while todo:
        function = todo.pop()
        if not isinstance(function, InterpretedFunction) or function in seen:
            continue
        seen.add(function)
        rewritten = function.rewrite()
        todo += [rewritten.__globals__.get(name) for name in rewritten.__code__.co_names]


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
        address=storage.data_ptr() + tensor.storage_offset() * tensor.element_size(),
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


