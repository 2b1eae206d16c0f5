"""A launch's arguments as the compiled kernel wants them: parameter by parameter, by the compiler's own types.

The plan's values are hostile, the compiled signature is not: kind, width and number follow the signature, and a value
that does not fit is refused when the artifact is loaded, before anything is launched. Standard library only.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from harness.kernel import KernelFacts
from harness.plan import Argument, Descriptor, LaunchStep, Tensor, Value
from harness.replay.gpu.faults import GpuError

_INTEGER = re.compile(r"[iu](1|8|16|32|64)")
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d", "fp16": "<e", "fp32": "<f", "fp64": "<d"}
_BFLOAT = frozenset({"bf16"})
_DESCRIPTOR = re.compile(r"!?(?:tt\.)?tensordesc<")
_HEADER_ARGUMENT = re.compile(r"%arg(\d+): ([^%]*)")
_DIVISIBILITY = re.compile(r"tt\.divisibility = (\d+)")

MAP_BYTES = 128  # of a CUtensorMap
MAP_ALIGN = 64


@dataclass(frozen=True)
class Pointer:
    """A parameter that is a tensor's address, with the alignment that the kernel was compiled for."""

    tensor: int | None
    align: int


@dataclass(frozen=True)
class Scalar:
    """A parameter that is a number, packed."""

    data: bytes


@dataclass(frozen=True)
class TensorMap:
    """A parameter that describes a tensor to the copy engine: made anew for each address of the tensor."""

    descriptor: Descriptor
    layout: dict[str, Any]


Parameter = Pointer | Scalar | TensorMap


def bind_arguments(step: LaunchStep, facts: KernelFacts, ttir: str) -> tuple[Parameter, ...]:
    """Match a launch's arguments with the kernel's compiled signature.

    Raises:
        GpuError: they don't match, or a type is unknown.
    """
    values = [argument for argument in step.args if argument.type != "constexpr"]
    flat = list(_flatten(values, facts))
    if len(flat) != len(facts.params):
        _refuse(facts, f"takes {len(facts.params)} parameters, the plan passes {len(flat)}")
    aligned = find_divisibility(ttir)
    return tuple(
        _bind(value, kind, aligned.get(position, 1), facts)
        for position, (value, kind) in enumerate(zip(flat, facts.params, strict=True))
    )


def _flatten(arguments: Sequence[Argument], facts: KernelFacts) -> Any:
    """Yield a value per parameter: a descriptor stands for a map, its sizes and its strides."""
    layouts = iter(facts.descriptors)
    for argument in arguments:
        if not isinstance(argument.value, Descriptor):
            yield argument.value
            continue
        layout = next(layouts, None)
        if layout is None:
            _refuse(facts, f"has no layout for the tensor descriptor {argument.name}")
        yield TensorMap(argument.value, _check_layout(layout, argument.value, facts))
        yield from argument.value.shape
        yield from argument.value.strides


def _bind(value: Value | TensorMap, kind: str, divisor: int, facts: KernelFacts) -> Parameter:
    if isinstance(value, TensorMap):
        if not _DESCRIPTOR.match(kind):
            _refuse(facts, f"has a parameter of type {kind} where the plan passes a tensor descriptor")
        return value
    if kind.startswith("*"):
        if value is not None and not isinstance(value, Tensor):
            _refuse(facts, f"has a pointer parameter where the plan passes {type(value).__name__}")
        return Pointer(value.number if isinstance(value, Tensor) else None, divisor)
    if not isinstance(value, (bool, int, float)):
        _refuse(facts, f"has a parameter of type {kind} where the plan passes {type(value).__name__}")
    if isinstance(value, int) and value % divisor:
        _refuse(facts, f"was compiled for a multiple of {divisor} where the plan passes {value}")
    return Scalar(pack_scalar(value, kind, facts))


def pack_scalar(value: bool | int | float, kind: str, facts: KernelFacts) -> bytes:
    """Return a number in the form of a compiled type.

    Raises:
        GpuError: the type is unknown, or the value is not of its kind.
    """
    integer = _INTEGER.fullmatch(kind)
    if integer is not None:
        if not isinstance(value, int):
            _refuse(facts, f"has an integer parameter where the plan passes {value!r}")
        width = int(integer.group(1))
        size = max(width // 8, 1)
        return (int(value) % (1 << width)).to_bytes(size, "little")
    try:
        if kind in _FLOATS:
            return struct.pack(_FLOATS[kind], float(value))
        if kind in _BFLOAT:
            return _pack_bfloat16(float(value))
    except OverflowError:
        return struct.pack(_FLOATS.get(kind, "<f"), float("inf") if value > 0 else float("-inf"))
    return _refuse(facts, f"has a parameter of a type that replay does not know, {kind}")


def _pack_bfloat16(value: float) -> bytes:
    """Round to nearest, ties to even."""
    bits = int.from_bytes(struct.pack("<f", value), "little")
    if value != value:
        return b"\xc0\x7f"
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).to_bytes(2, "little")


def find_divisibility(ttir: str) -> dict[int, int]:
    """Return which parameters a kernel was compiled to be multiples of what, by position."""
    start = ttir.find("tt.func public")
    header = ttir[start : ttir.find("\n", start)] if start >= 0 else ""
    found = {}
    for position, text in _HEADER_ARGUMENT.findall(header):
        match = _DIVISIBILITY.search(text)
        if match:
            found[int(position)] = int(match.group(1))
    return found


_LAYOUT = {"swizzle": (0, 3), "elem_size": (1, 8), "elem_type": (0, 15)}


def _check_layout(layout: dict[str, Any], descriptor: Descriptor, facts: KernelFacts) -> dict[str, Any]:
    for name, (low, high) in _LAYOUT.items():
        value = layout.get(name)
        if not isinstance(value, int) or not low <= value <= high:
            _refuse(facts, f"has a tensor descriptor whose {name} is unknown")
    block = layout.get("block_size")
    good = isinstance(block, list) and all(isinstance(size, int) and 1 <= size <= 256 for size in block)
    if not good or not 1 <= len(descriptor.shape) <= 5 or len(block or ()) != len(descriptor.shape):
        _refuse(facts, "has a tensor descriptor whose block does not fit its tensor")
    if layout.get("fp4_padded"):
        _refuse(facts, "has a tensor descriptor of packed 4-bit numbers, which replay does not know")
    if descriptor.strides[-1] != 1:
        _refuse(facts, "has a tensor descriptor whose last axis is not contiguous")
    return layout


def _refuse(facts: KernelFacts, what: str) -> NoReturn:
    raise GpuError("unsupported_kernel", f"{facts.name} {what}", facts.name)


class ParameterBlock:
    """The values of one launch in memory, and the addresses that the driver wants."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        scratch: Sequence[int],
        find_address: Callable[[int], int],
        encode_map: Callable[[TensorMap, int], bytes],
        kernel: str,
    ) -> None:
        """Fill in addresses.

        Args:
            parameters: from `bind_arguments`.
            scratch: addresses that Triton's kernels take last: global and profile scratch.
            find_address: returns a tensor's address by its number.
            encode_map: encodes a tensor map for an address.
            kernel: the kernel's name, for messages.
        """
        self._kept: list[Any] = []
        for parameter in parameters:
            self._kept.append(_hold(_value(parameter, find_address, encode_map, kernel)))
        self._kept += [_hold(struct.pack("<Q", address)) for address in scratch]
        addresses = [ctypes.addressof(buffer) + offset for buffer, offset in self._kept]
        self.pointers = (ctypes.c_void_p * len(addresses))(*addresses)


def _value(
    parameter: Parameter,
    find_address: Callable[[int], int],
    encode_map: Callable[[TensorMap, int], bytes],
    kernel: str,
) -> bytes:
    if isinstance(parameter, Scalar):
        return parameter.data
    if isinstance(parameter, TensorMap):
        return encode_map(parameter, find_address(parameter.descriptor.base.number))
    address = 0 if parameter.tensor is None else find_address(parameter.tensor)
    if address % parameter.align:
        told = f"{kernel} was compiled for pointers that are multiples of {parameter.align}, one is passed that is not"
        raise GpuError("misaligned_argument", told, kernel)
    return struct.pack("<Q", address)


def _hold(data: bytes) -> tuple[Any, int]:
    """Return memory that holds some bytes at a multiple of 64, and their offset in it."""
    buffer = ctypes.create_string_buffer(len(data) + MAP_ALIGN)
    offset = -ctypes.addressof(buffer) % MAP_ALIGN
    ctypes.memmove(ctypes.addressof(buffer) + offset, data, len(data))
    return buffer, offset
