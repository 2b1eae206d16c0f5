"""Triton's front end, made quick enough to run once per operation of every program.

Written for compiling a kernel once, it builds types, shapes and constants anew for every operation; here they
are remembered, and the common cases of type checking and broadcasting are decided at a glance. Nothing here
changes what is computed: whatever is not a common case goes to Triton's own code.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import triton.language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter as stock
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.numerics import Array, numpy_type

_MOST_CONSTANTS = 4096
_ORDINARY = frozenset({"fp32", "int32", "int64"})
"""Types that an operation on two of the same leaves as they are, and that a fitting number takes on."""

_unwrap = tl.core._unwrap_if_constexpr


class Semantic(TritonSemantic):  # type: ignore[misc]
    """Type checking and broadcasting, with the common cases first."""

    def __init__(self, builder: Any) -> None:
        super().__init__(builder)
        self._constants: dict[Any, Any] = {}

    def binary_op_type_checking_impl(self, lhs: Any, rhs: Any, *allowed: Any, **options: Any) -> tuple[Any, Any]:
        """Bring two operands to one type and shape."""
        if lhs.__class__ is tl.tensor:
            kind = lhs.dtype.name
            if kind in _ORDINARY:
                if rhs.__class__ is tl.tensor:
                    if rhs.dtype.name == kind:
                        return self.broadcast_impl_value(lhs, rhs)
                elif _fits(rhs, kind):
                    return lhs, self._constant(rhs, lhs.type)
        elif rhs.__class__ is tl.tensor and rhs.dtype.name in _ORDINARY and _fits(lhs, rhs.dtype.name):
            return self._constant(lhs, rhs.type), rhs
        return super().binary_op_type_checking_impl(lhs, rhs, *allowed, **options)  # type: ignore[no-any-return]

    def broadcast_impl_value(self, lhs: Any, rhs: Any) -> tuple[Any, Any]:
        """Bring two tensors to one shape."""
        left, right = lhs.type, rhs.type
        if left is right:
            return lhs, rhs
        left_is_block, right_is_block = left.is_block(), right.is_block()
        if left_is_block and right_is_block:
            if left.shape is right.shape:
                return lhs, rhs
        elif left_is_block:
            return lhs, self._spread(rhs, left)
        elif right_is_block:
            return self._spread(lhs, right), rhs
        else:
            return lhs, rhs
        return super().broadcast_impl_value(lhs, rhs)  # type: ignore[no-any-return]

    def cast(self, input: Any, dst_ty: Any, fp_downcast_rounding: str | None = None) -> Any:
        """Convert a tensor to another element type."""
        if fp_downcast_rounding is None and input.type.scalar == dst_ty.scalar:
            return input
        return super().cast(input, dst_ty, fp_downcast_rounding)

    def dot_scaled(
        self, lhs: Any, lhs_scale: Any, lhs_format: Any, rhs: Any, rhs_scale: Any, rhs_format: Any, *options: Any
    ) -> Any:
        """Multiply scaled operands; the formats arrive as plain strings, where Triton expects constants."""
        formats = tl.constexpr(lhs_format), tl.constexpr(rhs_format)
        return super().dot_scaled(lhs, lhs_scale, formats[0], rhs, rhs_scale, formats[1], *options)

    def _constant(self, value: Any, model: Any) -> Any:
        """Return a number as a tensor of the model's type."""
        key = (value, model.scalar.name, id(model.shape) if model.is_block() else 0)
        found = self._constants.get(key)
        if found is None:
            if len(self._constants) >= _MOST_CONSTANTS:
                self._constants.clear()
            found = self._spread(self.scalar_constant(value, dtype=model.scalar), model)
            self._constants[key] = found
        return found

    def _spread(self, scalar: Any, model: Any) -> Any:
        """Return a scalar tensor in the model's shape."""
        if not model.is_block():
            return scalar
        handle = TensorHandle(spread(scalar.handle.data, model.shape.values), scalar.handle.dtype.scalar)
        return tl.tensor(handle, tl.block_type(scalar.type.scalar, model.shape))


def _fits(value: Any, kind: str) -> bool:
    if kind == "fp32":
        return isinstance(value, numbers.Number)
    limit = 1 << (31 if kind == "int32" else 63)
    return isinstance(value, int) and -limit <= value < limit


def spread(data: Array, shape: Any) -> Array:
    """Return an array in a larger shape without copying it: `np.broadcast_to`, at a tenth of its price."""
    if data.size == 1:
        return np.ndarray(tuple(shape), data.dtype, data.tobytes(), 0, (0,) * len(shape))
    if data.flags.c_contiguous:
        strides = tuple(0 if size == 1 else step for size, step in zip(data.shape, data.strides, strict=True))
        return np.ndarray(tuple(shape), data.dtype, data, 0, strides)
    return np.broadcast_to(data, tuple(shape))


_SHAPES: dict[tuple[Any, ...], tuple[Any, int, tuple[Any, ...], Any]] = {}


def _shape(sizes: Any) -> tuple[Any, int, tuple[Any, ...], Any]:
    """Return a shape's parts: Triton's tuple, its element count, and both as the constants that a tensor shows."""
    key = tuple(sizes.values if isinstance(sizes, tl.tuple) else sizes)
    found = _SHAPES.get(key)
    if found is None:
        plain = tl.core._unwrap_shape(sizes)
        same = _SHAPES.get(tuple(plain))
        if same is None:
            count = tl.core.validate_block_shape(plain)
            constants = tuple(tl.constexpr(size) for size in plain)
            same = (tl.tuple(plain), count, tl.tuple(constants), tl.constexpr(math.prod(plain)))
            _SHAPES[tuple(plain)] = same
        found = _SHAPES[key] = same
    return found


def _init_block_type(self: Any, element_ty: Any, shape: Any) -> None:
    self.element_ty = element_ty
    self._parts = _shape(shape)
    self.shape, self.numel = self._parts[0], self._parts[1]


def _init_tensor(self: Any, handle: Any, type: Any) -> None:
    self.handle, self.type, self.dtype = handle, type, type.scalar
    parts = getattr(type, "_parts", None)
    self.shape, self.numel = (parts[2], parts[3]) if parts is not None else _SCALAR


_SCALAR = (tl.tuple([]), tl.constexpr(1))


def _init_handle(self: Any, data: Array, dtype: Any, attr: Any = None) -> None:
    self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr


def _same_type(self: Any, other: Any) -> bool:
    if self is other:
        return True
    other = other.value if isinstance(other, tl.constexpr) else other
    return isinstance(other, tl.dtype) and self.name == other.name


def _same_block(self: Any, other: Any) -> bool:
    return self is other or (
        isinstance(other, tl.block_type) and self.shape is other.shape and self.element_ty == other.element_ty
    )


def _unwrap_quickly(value: Any) -> Any:
    kind = value.__class__
    if kind is tl.constexpr:
        return value.value
    return value if kind is tl.tensor or kind is int or kind is float else _unwrap(value)


def _is_its_own_ir(self: Any, builder: Any) -> Any:
    return self


def install() -> None:
    """Replace the front end's slow parts."""
    tl.tensor.__init__ = _init_tensor
    tl.block_type.__init__ = _init_block_type
    tl.block_type.name = property(lambda self: f"<{self.shape}, {self.element_ty}>")
    tl.block_type.__eq__ = _same_block
    tl.dtype.__eq__ = _same_type
    tl.core._unwrap_if_constexpr = _unwrap_quickly
    for kind in (tl.dtype, tl.block_type, tl.pointer_type):
        kind.to_ir = _is_its_own_ir
    TensorHandle.__init__ = _init_handle
    stock._get_np_dtype = numpy_type
