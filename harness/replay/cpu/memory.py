"""Loads, stores, atomics, block pointers and tensor descriptors, every one of them bounds-checked.

A mix-in over Triton's `InterpreterBuilder`. The two hooks are for those who run programs: `recorder` notes
which bytes were stored (for sampled replays), `pause` lets another program run (for grid barriers).
"""

# ruff: noqa: D102 -- the methods are those of Triton's builder, under its names

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import interpreter as native
from triton._C.libtriton import ir
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from harness.replay.cpu.bounds import Bounds
from harness.replay.cpu.faults import Fault, Unsupported
from harness.replay.cpu.numerics import NARROW, Array, make, numpy_type, widen

dense = np.ascontiguousarray
"""Triton's native functions walk arrays as if they were contiguous, whatever their strides."""

_ADD = (ir.ATOMIC_OP.FADD, ir.ATOMIC_OP.ADD)


class Memory:
    """Access to the tensors of the launch that is running."""

    bounds: Bounds = Bounds()
    recorder: Callable[[TensorHandle, Array | None, int], None] | None = None
    pause: Callable[[], None] | None = None

    def create_load(self, ptr: TensorHandle, cache: Any, eviction: Any, is_volatile: bool) -> TensorHandle:
        return self.create_masked_load(ptr, None, None, cache, eviction, is_volatile)

    def create_store(self, ptr: TensorHandle, value: TensorHandle, cache: Any, eviction: Any) -> None:
        self.create_masked_store(ptr, value, None, cache, eviction)

    def create_masked_load(
        self,
        ptrs: TensorHandle,
        mask: TensorHandle | None,
        other: TensorHandle | None,
        cache_modifier: Any,
        eviction_policy: Any,
        is_volatile: bool,
    ) -> TensorHandle:
        element = ptrs.get_element_ty()
        carrier = numpy_type(element)
        used = None if mask is None else mask.data
        self.bounds.check(ptrs, used, carrier.itemsize, "load")
        if is_volatile and self.pause is not None:
            self.pause()
        used = np.ones(ptrs.data.shape, np.bool_) if used is None else dense(used)
        fill = np.zeros(ptrs.data.shape, carrier) if other is None else dense(other.data)
        return TensorHandle(native.load(dense(ptrs.data), used, fill, carrier), element)

    def create_masked_store(
        self, ptrs: TensorHandle, value: TensorHandle, mask: TensorHandle | None, cache: Any, eviction: Any
    ) -> None:
        carrier = numpy_type(ptrs.get_element_ty())
        used = None if mask is None else mask.data
        self.bounds.check(ptrs, used, carrier.itemsize, "store")
        if self.recorder is not None:
            self.recorder(ptrs, used, carrier.itemsize)
        used = np.ones(ptrs.data.shape, np.bool_) if used is None else dense(used)
        data = value.data if value.data.dtype == carrier else value.data.astype(carrier)
        native.store(dense(ptrs.data), dense(data), used)

    def create_atomic_cas(
        self, ptr: TensorHandle, cmp: TensorHandle, val: TensorHandle, sem: Any, scope: Any
    ) -> TensorHandle:
        self.bounds.check(ptr, None, numpy_type(ptr.get_element_ty()).itemsize, "atomic")
        ptr, cmp, val = (TensorHandle(dense(h.data), h.dtype) for h in (ptr, cmp, val))
        result = InterpreterBuilder.create_atomic_cas(self, ptr, cmp, val, sem, scope)
        if self.pause is not None:
            self.pause()
        return result

    def create_atomic_rmw(
        self, op: Any, ptr: TensorHandle, val: TensorHandle, mask: TensorHandle, sem: Any, scope: Any
    ) -> TensorHandle:
        self.bounds.check(ptr, mask.data, numpy_type(ptr.get_element_ty()).itemsize, "atomic")
        if val.dtype.scalar in NARROW:
            result = self._atomic_narrow(op, ptr, val, mask)
        else:
            ptr, val, mask = (TensorHandle(dense(h.data), h.dtype) for h in (ptr, val, mask))
            result = InterpreterBuilder.create_atomic_rmw(self, op, ptr, val, mask, sem, scope)
        if self.pause is not None:
            self.pause()
        return result

    def _atomic_narrow(self, op: Any, ptr: TensorHandle, val: TensorHandle, mask: TensorHandle) -> TensorHandle:
        """Update bfloat16 elements one after the other, since an address may occur more than once."""
        if op not in (*_ADD, ir.ATOMIC_OP.XCHG):
            raise Unsupported(f"atomic {op.name} on {val.dtype.scalar} is not interpreted")
        addresses, used = ptr.data.reshape(-1), mask.data.reshape(-1)
        values, before = val.data.reshape(-1), np.zeros(val.data.size, val.data.dtype)
        for i in np.flatnonzero(used):
            at, always = addresses[i : i + 1], np.ones(1, np.bool_)
            old = native.load(at, always, before[:1], before.dtype)
            new = TensorHandle(values[i : i + 1], val.dtype.scalar)
            if op in _ADD:
                new = make(widen(TensorHandle(old, val.dtype.scalar)) + widen(new), val.dtype.scalar)
            native.store(at, new.data, always)
            before[i] = old[0]
        return TensorHandle(before.reshape(val.data.shape), val.dtype.scalar)

    def create_addptr(self, ptr: TensorHandle, offset: TensorHandle) -> TensorHandle:
        itemsize = numpy_type(ptr.get_element_ty()).itemsize
        steps = offset.data.view(f"i{offset.data.itemsize}") if offset.data.dtype.kind == "u" else offset.data
        moved = ptr.data + (steps.astype(np.int64) * itemsize).view(np.uint64)
        return TensorHandle(moved, ptr.dtype)

    def create_tensor_pointer_load(
        self, ptr: Any, boundary_check: Any, padding: Any, cache: Any, eviction: Any, is_volatile: bool
    ) -> TensorHandle:
        pointers, mask = _window(ptr.base, ptr.shape, ptr.strides, ptr.offsets, ptr.block_shape, boundary_check)
        other = _padding(padding, pointers)
        return self.create_masked_load(pointers, mask, other, cache, eviction, is_volatile)

    def create_tensor_pointer_store(
        self, ptr: Any, value: TensorHandle, boundary_check: Any, cache: Any, eviction: Any
    ) -> None:
        pointers, mask = _window(ptr.base, ptr.shape, ptr.strides, ptr.offsets, ptr.block_shape, boundary_check)
        self.create_masked_store(pointers, value, mask, cache, eviction)

    def create_descriptor_load(
        self, desc: Any, indices: Sequence[TensorHandle], cache: Any, eviction: Any
    ) -> TensorHandle:
        pointers, mask = _descriptor_window(desc, indices)
        return self.create_masked_load(pointers, mask, _padding(desc.padding, pointers), cache, eviction, False)

    def create_descriptor_store(self, desc: Any, value: TensorHandle, indices: Sequence[TensorHandle]) -> None:
        pointers, mask = _descriptor_window(desc, indices)
        self.create_masked_store(pointers, value, mask, None, None)

    def create_descriptor_reduce(
        self, kind: Any, desc: Any, value: TensorHandle, indices: Sequence[TensorHandle]
    ) -> None:
        dtype, operation = value.dtype.scalar, kind.name
        if dtype.is_floating() and operation != "ADD":
            raise Unsupported(f"descriptor reduction {operation} of {dtype} is not interpreted")
        if operation == "ADD" and dtype.is_floating():
            operation = "FADD"
        elif operation in ("MIN", "MAX") and dtype.is_int_unsigned():
            operation = f"U{operation}"
        pointers, mask = _descriptor_window(desc, indices)
        relaxed = ir.MEM_SEMANTIC.RELAXED
        self.create_atomic_rmw(getattr(ir.ATOMIC_OP, operation), pointers, value, mask, relaxed, None)


def _descriptor_window(desc: Any, indices: Sequence[TensorHandle]) -> tuple[TensorHandle, TensorHandle]:
    if len(indices) != desc.ndim:
        raise Fault(f"a descriptor of {desc.ndim} dimensions is accessed with {len(indices)} offsets")
    every = range(desc.ndim)
    return _window(desc.base, desc.shape, desc.strides, indices, desc.block_shape, every)


def _window(
    base: TensorHandle,
    shape: Sequence[TensorHandle],
    strides: Sequence[TensorHandle],
    offsets: Sequence[TensorHandle],
    block_shape: Sequence[int],
    checked: Any,
) -> tuple[TensorHandle, TensorHandle]:
    """Return the pointers of a block, and which of them lie inside the tensor in the checked dimensions."""
    itemsize = numpy_type(base.get_element_ty()).itemsize
    distance = np.zeros((1,) * len(block_shape), np.int64)
    inside = np.ones((1,) * len(block_shape), np.bool_)
    for axis, size in enumerate(block_shape):
        along = [1] * len(block_shape)
        along[axis] = size
        position = (int(offsets[axis].data.reshape(-1)[0]) + np.arange(size, dtype=np.int64)).reshape(along)
        distance = distance + position * (int(strides[axis].data.reshape(-1)[0]) * itemsize)
        if axis in checked:
            inside = inside & (position >= 0) & (position < int(shape[axis].data.reshape(-1)[0]))
    pointers = base.data.reshape(-1)[0] + distance.view(np.uint64)
    mask = np.broadcast_to(inside, pointers.shape)
    return TensorHandle(pointers, base.dtype.scalar), TensorHandle(np.ascontiguousarray(mask), tl.int1)


def _padding(option: Any, pointers: TensorHandle) -> TensorHandle | None:
    """Return what a load puts where the window leaves the tensor; None stands for zeros."""
    if option is None or option == ir.PADDING_OPTION.PAD_ZERO or option == "zero":
        return None
    element = pointers.get_element_ty()
    return make(np.full(pointers.data.shape, np.nan, np.float32), element)
