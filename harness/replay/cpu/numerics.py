"""Values as the GPU rounds them: narrow floats, conversions, tf32 and the split precisions of `tl.dot`.

numpy has no bfloat16 and no float8, so the interpreter keeps them in unsigned integers (their *carriers*).
Everything that computes widens to float32 first and rounds back, once, to nearest even; float8 saturates as
PTX's `cvt.rn.satfinite` does. Float-to-integer conversions saturate, as PTX's `cvt.rzi` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton.language as tl
from numpy.typing import NDArray
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.faults import Unsupported

Array = NDArray[Any]

NUMPY: dict[Any, np.dtype[Any]] = {
    tl.int1: np.dtype(np.bool_),
    tl.int8: np.dtype(np.int8),
    tl.int16: np.dtype(np.int16),
    tl.int32: np.dtype(np.int32),
    tl.int64: np.dtype(np.int64),
    tl.uint8: np.dtype(np.uint8),
    tl.uint16: np.dtype(np.uint16),
    tl.uint32: np.dtype(np.uint32),
    tl.uint64: np.dtype(np.uint64),
    tl.float16: np.dtype(np.float16),
    tl.float32: np.dtype(np.float32),
    tl.float64: np.dtype(np.float64),
    tl.bfloat16: np.dtype(np.uint16),
    tl.float8e4nv: np.dtype(np.uint8),
    tl.float8e5: np.dtype(np.uint8),
}
_FLOAT8 = {tl.float8e4nv: torch.float8_e4m3fn, tl.float8e5: torch.float8_e5m2}
NARROW = frozenset({tl.bfloat16, *_FLOAT8})
_BY_NAME = {dtype.name: carrier for dtype, carrier in NUMPY.items()}
_ADDRESS = np.dtype(np.uint64)


def numpy_type(dtype: Any) -> np.dtype[Any]:
    """Return the numpy type that carries a Triton scalar type."""
    scalar = dtype.scalar
    found = _BY_NAME.get(scalar.name)
    if found is None:
        if scalar.is_ptr():
            return _ADDRESS
        raise Unsupported(f"values of type {scalar} are not interpreted")
    return found


def widen(handle: TensorHandle) -> Array:
    """Return the values of a handle, narrow floats as float32."""
    dtype = handle.dtype.scalar
    if dtype not in NARROW:
        return handle.data  # type: ignore[no-any-return]
    data: Array = handle.data
    if dtype == tl.bfloat16:
        return _from_bfloat16(data)
    bits = torch.from_numpy(np.array(data, order="C"))
    return bits.view(_FLOAT8[dtype]).float().numpy().reshape(data.shape)


def narrow(values: Array, dtype: Any) -> Array:
    """Round float values to a Triton float type and return its carrier."""
    if dtype not in NARROW:
        return values if values.dtype == NUMPY[dtype] else values.astype(NUMPY[dtype])
    single = np.array(values, dtype=np.float32, order="C")
    if dtype == tl.bfloat16:
        bits = single.view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
        return np.where(np.isnan(single), np.uint32(0x7FFF), rounded).astype(np.uint16)
    target = _FLOAT8[dtype]
    largest = torch.finfo(target).max
    rounded8 = torch.from_numpy(single).clamp(-largest, largest).to(target)
    return rounded8.view(torch.uint8).numpy().reshape(single.shape)


def make(values: Array, dtype: Any) -> TensorHandle:
    """Return a handle for float or integer values, rounded to a Triton type."""
    return TensorHandle(narrow(values, dtype), dtype)


def convert(source: TensorHandle, target: Any) -> TensorHandle:
    """Convert between Triton scalar types as the GPU does."""
    values, dtype = widen(source), target.scalar
    if dtype == tl.int1:
        return TensorHandle(values != 0, dtype)
    if dtype.is_int() and source.dtype.scalar.is_floating():
        return TensorHandle(_float_to_integer(values, dtype), dtype)
    return make(values, dtype)


def _float_to_integer(values: Array, dtype: Any) -> Array:
    """Truncate and saturate. 8-bit results pass through 16 bits, because PTX has no narrower conversion."""
    carrier = NUMPY[dtype]
    wide = np.dtype(f"{carrier.kind}{max(carrier.itemsize, 2)}")
    limits = np.iinfo(wide)
    exact = np.trunc(values.astype(np.float64))
    result = np.zeros(values.shape, wide)
    inside = (exact > float(limits.min) - 1) & (exact < float(limits.max) + 1)
    inside &= (exact >= float(limits.min)) & (exact < 2.0 ** (wide.itemsize * 8 - (wide.kind == "i")))
    result[inside] = exact[inside].astype(wide)
    result[exact < float(limits.min)] = limits.min
    result[exact >= 2.0 ** (wide.itemsize * 8 - (wide.kind == "i"))] = limits.max
    if wide.itemsize == 8 or values.dtype == np.float64:
        result[np.isnan(exact)] = limits.min if wide.kind == "i" else np.uint64(1) << np.uint64(63)
    return result.astype(carrier)


def truncate_to_bfloat16(source: TensorHandle) -> TensorHandle:
    """Round towards zero to bfloat16 (`fp_downcast_rounding="rtz"`)."""
    single = np.array(widen(source), dtype=np.float32, order="C")
    return TensorHandle((single.view(np.uint32) >> np.uint32(16)).astype(np.uint16), tl.bfloat16)


def round_to_tf32(values: Array) -> Array:
    """Round float32 to tf32's 10 mantissa bits, ties away from zero (PTX `cvt.rna.tf32.f32`)."""
    bits = np.array(values, dtype=np.float32, order="C").view(np.uint32)
    rounded = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return rounded if np.isfinite(rounded).all() else np.where(np.isfinite(values), rounded, values)


def truncate_to_tf32(values: Array) -> Array:
    """Drop the mantissa bits that tf32 lacks.

    Triton 3.7.1 hands float32 operands to the tensor core as they are, without a conversion, and the core looks
    at their upper 19 bits: on an H200, 1 + 3 * 2**-11 counted as 1 + 2 * 2**-11, and random products came out
    6e-4 too small on average. Only tf32x3 converts, with rounding.
    """
    return (np.array(values, dtype=np.float32, order="C").view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def round_to_bfloat16(values: Array) -> Array:
    """Round float32 to bfloat16 and back."""
    return _from_bfloat16(narrow(values, tl.bfloat16))


def _from_bfloat16(carrier: Array) -> Array:
    return (carrier.astype(np.uint32) << np.uint32(16)).view(np.float32)


_SPLITS = {
    "TF32": (truncate_to_tf32, 1),
    "TF32x3": (round_to_tf32, 2),
    "BF16x3": (round_to_bfloat16, 2),
    "BF16x6": (round_to_bfloat16, 3),
}


def multiply(left: Array, right: Array, precision: str) -> Array:
    """Multiply float32 matrices with the operand precision that `tl.dot` was given.

    Args:
        left: (..., M, K) float32.
        right: (..., K, N) float32.
        precision: name of Triton's INPUT_PRECISION: IEEE, TF32, TF32x3, BF16x3 or BF16x6.
    """
    if precision == "IEEE":
        exact: Array = np.matmul(left, right)
        return exact
    if precision not in _SPLITS:
        raise Unsupported(f"tl.dot with input_precision {precision} is not interpreted")
    rounding, pieces = _SPLITS[precision]
    lefts, rights = _split(left, rounding, pieces), _split(right, rounding, pieces)
    products = [(i, j) for i in range(pieces) for j in range(pieces - i)]
    smallest_first = sorted(products, key=sum, reverse=True)
    total: Array = np.matmul(lefts[smallest_first[0][0]], rights[smallest_first[0][1]])
    for i, j in smallest_first[1:]:
        total += np.matmul(lefts[i], rights[j])
    return total


def _split(values: Array, rounding: Any, pieces: int) -> list[Array]:
    parts = []
    for _ in range(pieces):
        parts.append(rounding(values))
        values = values - parts[-1]
    return parts
