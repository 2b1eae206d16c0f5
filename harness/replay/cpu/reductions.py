"""`tl.reduce` and `tl.associative_scan` by whole slices.

Stock Triton interprets a custom combine function once per element; here it runs on slices, log2(n) times.
Neighbours are combined left to right, so that a combine function need not commute. Narrow floats are summed
and compared as float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.numerics import NARROW, Array, make, numpy_type, widen

Tensors = tuple[Any, ...]
Combine = Callable[..., Any]


def reduce(value: Any, axis: Any, combine_fn: Any, keep_dims: Any = False, **_: Any) -> Any:
    """Stand in for `tl.reduce`."""
    values = value if isinstance(value, (tuple, tl.tuple)) else (value,)
    axis, keep_dims = _plain(axis), bool(_plain(keep_dims))
    if len(values) == 1 and combine_fn in _SIMPLE_REDUCTIONS:
        results: Tensors = (_reduce_simply(values[0], axis, combine_fn, keep_dims),)
    else:
        results = _reduce_pairwise(values, axis, combine_fn, keep_dims)
    return results if isinstance(value, (tuple, tl.tuple)) else results[0]


def scan(value: Any, axis: Any, combine_fn: Any, reverse: Any = False, **_: Any) -> Any:
    """Stand in for `tl.associative_scan`."""
    values = value if isinstance(value, (tuple, tl.tuple)) else (value,)
    axis, backwards = _plain(axis), bool(_plain(reverse))
    if backwards:
        values = tuple(_like(np.flip(v.handle.data, axis), v) for v in values)
    if len(values) == 1 and combine_fn in _SIMPLE_SCANS:
        handle = values[0].handle
        results: Tensors = (_like(_accumulate(handle, axis, _SIMPLE_SCANS[combine_fn]), values[0]),)
    else:
        results = _scan_doubling(values, axis, combine_fn)
    if backwards:
        results = tuple(_like(np.flip(r.handle.data, axis), r) for r in results)
    return results if isinstance(value, (tuple, tl.tuple)) else results[0]


def max_propagate_nan(value: Any, dim: Any) -> Any:
    """Stand in for Helion's helper: like `tl.max`, but NaN wins."""
    return _propagating(np.maximum, value, dim)


def min_propagate_nan(value: Any, dim: Any) -> Any:
    """Stand in for Helion's helper: like `tl.min`, but NaN wins."""
    return _propagating(np.minimum, value, dim)


def _propagating(operation: Any, value: Any, dim: Any) -> Any:
    dtype = value.dtype.scalar
    if dtype.primitive_bitwidth < 32:
        dtype = tl.float32 if dtype.is_floating() else tl.int32
    values = widen(value.handle).astype(numpy_type(dtype), copy=False)
    return _result(np.asarray(operation.reduce(values, axis=_plain(dim))), dtype)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value


def _like(data: Array, model: Any) -> Any:
    """Return a tensor with this carrier and the model's element type."""
    dtype = model.dtype.scalar
    return tl.tensor(TensorHandle(np.ascontiguousarray(data), dtype), tl.block_type(dtype, list(data.shape)))


def _result(data: Array, dtype: Any) -> Any:
    """Return a reduction's result: a scalar where no dimension is left."""
    if data.ndim:
        return tl.tensor(TensorHandle(data, dtype), tl.block_type(dtype, list(data.shape)))
    return tl.tensor(TensorHandle(data.reshape(1), dtype), dtype)


def _sum(handle: TensorHandle, axis: int | None, keep_dims: bool) -> Array:
    values = widen(handle)
    exact = values.astype(np.float32) if values.dtype == np.float16 else values
    return _slices(np.add, exact, axis, keep_dims)


def _maximum(handle: TensorHandle, axis: int | None, keep_dims: bool) -> Array:
    return _slices(np.fmax, widen(handle), axis, keep_dims)


def _minimum(handle: TensorHandle, axis: int | None, keep_dims: bool) -> Array:
    return _slices(np.fmin, widen(handle), axis, keep_dims)


def _slices(operation: Any, values: Array, axis: int | None, keep_dims: bool) -> Array:
    return np.asarray(operation.reduce(values, axis=axis, keepdims=keep_dims, dtype=values.dtype))


_SIMPLE_REDUCTIONS: dict[Any, Callable[[TensorHandle, int | None, bool], Array]] = {
    tl.standard._sum_combine: _sum,
    tl.standard._elementwise_max: _maximum,
    tl.standard._elementwise_min: _minimum,
}
_SIMPLE_SCANS: dict[Any, Any] = {tl.standard._sum_combine: np.add, tl.standard._prod_combine: np.multiply}


def _reduce_simply(value: Any, axis: int | None, combine_fn: Any, keep_dims: bool) -> Any:
    dtype = value.dtype.scalar
    if dtype == tl.int1:
        return _reduce_pairwise((value,), axis, combine_fn, keep_dims)[0]
    data = np.asarray(_SIMPLE_REDUCTIONS[combine_fn](value.handle, axis, keep_dims))
    return _result(make(data, dtype).data.reshape(data.shape), dtype)


def _accumulate(handle: TensorHandle, axis: int, operation: Any) -> Array:
    values = widen(handle)
    if handle.dtype.scalar in NARROW or values.dtype == np.float16:
        values = values.astype(np.float32)
    sums: Array = operation.accumulate(values, axis=axis, dtype=values.dtype)
    return np.asarray(make(sums, handle.dtype.scalar).data)


def _combine(combine_fn: Combine, left: Tensors, right: Tensors) -> Tensors:
    result = combine_fn(*left, *right)
    return tuple(result) if isinstance(result, (tuple, tl.tuple)) else (result,)


def _at(value: Any, axis: int, index: slice) -> Any:
    return _like(value.handle.data[(slice(None),) * axis + (index,)], value)


def _reduce_pairwise(values: Tensors, axis: int | None, combine_fn: Combine, keep_dims: bool) -> Tensors:
    dimensions = values[0].handle.data.ndim
    if axis is None:
        current = tuple(_like(v.handle.data.reshape(-1), v) for v in values)
        along = 0
    else:
        current, along = tuple(values), axis % dimensions
    count = current[0].handle.data.shape[along]
    while count > 1:
        even = count - count % 2
        left = tuple(_at(v, along, slice(0, even, 2)) for v in current)
        right = tuple(_at(v, along, slice(1, even, 2)) for v in current)
        combined = _combine(combine_fn, left, right)
        if count % 2:
            combined = tuple(
                _like(np.concatenate([c.handle.data, _at(v, along, slice(even, count)).handle.data], along), v)
                for c, v in zip(combined, current, strict=True)
            )
        current, count = combined, count // 2 + count % 2
    return tuple(_drop(c, v, along, axis is None, keep_dims) for c, v in zip(current, values, strict=True))


def _drop(value: Any, model: Any, along: int, everything: bool, keep_dims: bool) -> Any:
    data = value.handle.data
    if not keep_dims:
        data = data.reshape(data.shape[:along] + data.shape[along + 1 :])
    elif everything:
        data = data.reshape((1,) * model.handle.data.ndim)
    return _result(data, value.dtype.scalar)


def _scan_doubling(values: Tensors, axis: int, combine_fn: Combine) -> Tensors:
    """Hillis and Steele's scan: each step combines every slice with the one `distance` before it."""
    current, axis = tuple(values), axis % values[0].handle.data.ndim
    count, distance = values[0].handle.data.shape[axis], 1
    while distance < count:
        earlier = tuple(_at(v, axis, slice(0, count - distance)) for v in current)
        later = tuple(_at(v, axis, slice(distance, count)) for v in current)
        combined = _combine(combine_fn, earlier, later)
        current = tuple(
            _like(np.concatenate([_at(v, axis, slice(0, distance)).handle.data, c.handle.data], axis), v)
            for c, v in zip(combined, current, strict=True)
        )
        distance *= 2
    return current
