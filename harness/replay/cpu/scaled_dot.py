"""`tl.dot_scaled`: products of blocks in microscaling formats (OCP MX 1.0, and NVFP4's float8 scales).

A scale belongs to a group of consecutive elements along K. Values times scales are exact in float32 (a scale is
a power of two, or a float8 on a 4-bit value), so all rounding is in the accumulation, as on the GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.numerics import Array, narrow, widen

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""The sixteen 4-bit floats, by code."""

_FLOAT8 = {"E4M3": torch.float8_e4m3fn, "E5M2": torch.float8_e5m2}


def multiply_scaled(
    left: tuple[TensorHandle, TensorHandle | None, Any, bool],
    right: tuple[TensorHandle, TensorHandle | None, Any, bool],
    accumulator: TensorHandle,
) -> TensorHandle:
    """Multiply two scaled operands and add the accumulator.

    Args:
        left: values (..., M, K), scales (..., M, K / group), Triton's element type, whether 4-bit pairs lie along K.
        right: values (..., K, N), scales (..., N, K / group), likewise.
        accumulator: (..., M, N).
    """
    values, scales, kind, along_k = left
    a = _decode(values, kind.name, -1 if along_k else -2)
    if scales is not None:
        a = a * _spread_scales(scales, a.shape[-1])
    values, scales, kind, along_k = right
    b = _decode(values, kind.name, -2 if along_k else -1)
    if scales is not None:
        b = b * np.swapaxes(_spread_scales(scales, b.shape[-2]), -1, -2)
    product = np.matmul(a, b) + widen(accumulator)
    return TensorHandle(narrow(product, accumulator.dtype.scalar), accumulator.dtype.scalar)


def _decode(values: TensorHandle, kind: str, packed_axis: int) -> Array:
    """Return an operand as float32."""
    if kind == "E2M1":
        codes = np.stack([values.data & 15, (values.data.view(np.uint8) >> 4) & 15], axis=-1)
        pairs = np.moveaxis(E2M1[codes.astype(np.int64)], -1, packed_axis if packed_axis == -1 else -2)
        shape = list(values.data.shape)
        shape[packed_axis] *= 2
        return pairs.reshape(shape)
    if kind in _FLOAT8 and values.dtype.scalar.is_int():
        bits = torch.from_numpy(np.array(values.data.view(np.uint8), order="C"))
        return bits.view(_FLOAT8[kind]).float().numpy()
    if kind not in (*_FLOAT8, "BF16", "FP16"):
        raise Unsupported(f"tl.dot_scaled with elements of type {kind} is not interpreted")
    return widen(values).astype(np.float32)


def _spread_scales(scales: TensorHandle, size: int) -> Array:
    """Return the scale of each element along K."""
    if scales.dtype.scalar == tl.float8e4nv:
        factors = widen(scales)
    else:
        exponents = scales.data.view(np.uint8).astype(np.int32)
        factors = np.where(exponents == 255, np.float32(np.nan), np.ldexp(np.float32(1), exponents - 127))
    return np.repeat(factors.astype(np.float32), size // factors.shape[-1], axis=-1)
