"""Element-wise operations, conversions and matrix products of the interpreter, with the GPU's rounding.

A mix-in over Triton's `InterpreterBuilder`: every method replaces one that is wrong in stock Triton 3.7.1, for
narrow floats (whose carriers it adds up as integers), NaN rules, unsigned shifts or precision.
"""

# ruff: noqa: D102 -- the methods are those of Triton's builder, under its names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.numerics import (
    NARROW,
    Array,
    convert,
    make,
    multiply,
    narrow,
    numpy_type,
    truncate_to_bfloat16,
    widen,
)

_COMPARISONS = frozenset({np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal})
_PROPAGATE_ALL = ir.PROPAGATE_NAN.ALL


def signed(values: Array) -> Array:
    """View integers as signed ones of the same size."""
    return values.view(f"i{values.itemsize}") if values.dtype.kind == "u" else values


def unsigned(values: Array) -> Array:
    """View integers as unsigned ones of the same size."""
    return values.view(f"u{values.itemsize}") if values.dtype.kind == "i" else values


class Arithmetic:
    """Element-wise operations and `tl.dot`."""

    def binary_op(self, lhs: TensorHandle, rhs: TensorHandle, op: Callable[..., Array]) -> TensorHandle:
        dtype = lhs.dtype.scalar
        if dtype in NARROW:
            result = op(widen(lhs), widen(rhs))
            return TensorHandle(result, tl.int1) if op in _COMPARISONS else make(result, dtype)
        result = op(lhs.data, rhs.data)
        if op in _COMPARISONS:
            return TensorHandle(result, tl.int1)
        carrier = numpy_type(dtype)
        return TensorHandle(result if result.dtype == carrier else result.astype(carrier), dtype)

    def unary_op(self, arg: TensorHandle, op: Callable[..., Array]) -> TensorHandle:
        return make(op(widen(arg)), arg.dtype.scalar)

    def ternary_op(
        self, lhs: TensorHandle, rhs: TensorHandle, other: TensorHandle, op: Callable[..., Array]
    ) -> TensorHandle:
        return make(op(widen(lhs), widen(rhs), widen(other)), other.dtype.scalar)

    def create_select(self, cond: TensorHandle, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        return TensorHandle(np.where(cond.data, lhs.data, rhs.data), lhs.dtype.scalar)

    def create_minnumf(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        return self.binary_op(lhs, rhs, np.fmin)

    def create_maxnumf(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        return self.binary_op(lhs, rhs, np.fmax)

    def create_clampf(self, arg: TensorHandle, lo: TensorHandle, hi: TensorHandle, propagate: Any) -> TensorHandle:
        low, high = (np.maximum, np.minimum) if propagate == _PROPAGATE_ALL else (np.fmax, np.fmin)
        return self.binary_op(self.binary_op(arg, lo, low), hi, high)

    def create_fma(self, x: TensorHandle, y: TensorHandle, z: TensorHandle) -> TensorHandle:
        exact = widen(x).astype(np.float64) * widen(y) + widen(z)
        return make(exact.astype(np.float64), z.dtype.scalar)

    def create_fabs(self, arg: TensorHandle) -> TensorHandle:
        return self.unary_op(arg, np.abs)

    def create_rsqrt(self, arg: TensorHandle) -> TensorHandle:
        return self.unary_op(arg, lambda x: 1 / np.sqrt(x))

    def create_erf(self, arg: TensorHandle) -> TensorHandle:
        return self.unary_op(arg, lambda x: torch.erf(torch.from_numpy(np.array(x, order="C"))).numpy())

    def create_lshr(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        if lhs.data.dtype == bool:
            return TensorHandle(lhs.data & ~rhs.data, lhs.dtype.scalar)
        shifted = np.right_shift(unsigned(lhs.data), unsigned(rhs.data))
        return TensorHandle(shifted.view(lhs.data.dtype), lhs.dtype.scalar)

    def create_ashr(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        shifted = np.right_shift(signed(lhs.data), signed(rhs.data))
        return TensorHandle(shifted.view(lhs.data.dtype), lhs.dtype.scalar)

    def create_idiv(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        quotient = (lhs.data - np.fmod(lhs.data, rhs.data)) // rhs.data
        return TensorHandle(quotient.astype(numpy_type(lhs.dtype), copy=False), lhs.dtype.scalar)

    def create_umulhi(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        a, b = unsigned(lhs.data), unsigned(rhs.data)
        high = _high_half(a, b) if a.itemsize == 8 else (a.astype(np.uint64) * b >> np.uint64(32)).astype(np.uint32)
        return TensorHandle(high.view(lhs.data.dtype), lhs.dtype.scalar)

    def cast_impl(self, src: TensorHandle, dst_type: Any) -> TensorHandle:
        return convert(src, dst_type)

    def create_fp_to_fp(self, src: TensorHandle, dst_type: Any, rounding_mode: Any) -> TensorHandle:
        if rounding_mode == ir.ROUNDING_MODE.RTZ:
            if dst_type.scalar != tl.bfloat16:
                raise Unsupported(f"rounding towards zero to {dst_type.scalar} is not interpreted")
            return truncate_to_bfloat16(src)
        return convert(src, dst_type)

    def create_bitcast(self, src: TensorHandle, dst_type: Any) -> TensorHandle:
        target = dst_type.scalar
        data = src.data.view(np.uint8) if src.data.dtype == bool else src.data
        region = getattr(src.dtype.scalar, "region", None)
        if region is not None and target.is_ptr():
            target = type(src.dtype.scalar)(target.element_ty, region)
        return TensorHandle(data.view(numpy_type(target)), target)

    create_int_to_ptr = create_bitcast
    create_ptr_to_int = create_bitcast

    def create_dot(self, a: TensorHandle, b: TensorHandle, d: TensorHandle, precision: Any, _: Any) -> TensorHandle:
        left, right, accumulator = widen(a), widen(b), widen(d)
        if left.dtype.kind in "iu":
            product = np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
        elif left.dtype == np.float64:
            product = np.matmul(left, right)
        elif left.dtype == np.float32 and a.dtype.scalar not in NARROW:
            product = multiply(left, right, precision.name)
        else:
            product = np.matmul(left.astype(np.float32), right.astype(np.float32))
        return TensorHandle(narrow(product + accumulator, d.dtype.scalar), d.dtype.scalar)

    def get_bf16(self, value: float) -> TensorHandle:
        return make(np.array([value], np.float32), tl.bfloat16)

    def get_all_ones_value(self, dtype: Any) -> TensorHandle:
        carrier = numpy_type(dtype)
        ones = np.array([True]) if carrier.kind == "b" else np.array([-1]).astype(carrier)
        return TensorHandle(ones, dtype.scalar)


def _high_half(a: Array, b: Array) -> Array:
    """Return the upper 64 bits of a 64 by 64 bit product."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    middle = a_high * b_low + ((a_low * b_low) >> half)
    carry = a_low * b_high + (middle & mask)
    high: Array = a_high * b_high + (middle >> half) + (carry >> half)
    return high
