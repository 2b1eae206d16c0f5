"""GPU memory that two processes map: one makes it, the other gets a descriptor of it.

A descriptor crosses namespaces of processes, which CUDA's older handles do not. What is in the memory is whatever the
other process left there.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from cuda.bindings import driver as cuda

from harness.replay.gpu.driver import check

_BY_DESCRIPTOR = cuda.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


class _RawMemory:
    """Lets torch look at a range of device memory without owning it."""

    def __init__(self, start: int, count: int, kind: str) -> None:
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": kind, "data": (start, False), "version": 3}


def view_memory(start: int, size_bytes: int, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
    """Return a flat view of a range of the current GPU's memory.

    Args:
        start: its address.
        size_bytes: its length.
        dtype: torch.uint8, torch.int32 or torch.int64.
    """
    kind = {torch.uint8: "|u1", torch.int32: "<i4", torch.int64: "<i8"}[dtype]
    return torch.as_tensor(_RawMemory(start, size_bytes // dtype.itemsize, kind), device="cuda")


class DeviceMemory:
    """A mapped piece of GPU 0's memory; it stays mapped as long as the process lives.

    Attributes:
        memory: all of it, uint8.
    """

    def __init__(self, handle: Any, size_bytes: int) -> None:
        address = check(cuda.cuMemAddressReserve(size_bytes, 0, 0, 0), "cuMemAddressReserve")
        check(cuda.cuMemMap(address, size_bytes, 0, handle, 0), "cuMemMap")
        access = cuda.CUmemAccessDesc()
        access.location = _properties().location
        access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        check(cuda.cuMemSetAccess(address, size_bytes, [access], 1), "cuMemSetAccess")
        self.memory = view_memory(int(address), size_bytes)


def make_device_memory(size_bytes: int) -> tuple[DeviceMemory, int]:
    """Make memory that another process can map; return it and its descriptor. It is larger than asked for, if anything.

    Raises:
        DriverError: this GPU or its driver does not share memory by descriptors, or has not enough.
    """
    _need_context()
    properties = _properties()
    minimum = cuda.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    unit = int(check(cuda.cuMemGetAllocationGranularity(properties, minimum), "cuMemGetAllocationGranularity"))
    size_bytes = -(-size_bytes // unit) * unit
    handle = check(cuda.cuMemCreate(size_bytes, properties, 0), "cuMemCreate")
    descriptor = check(cuda.cuMemExportToShareableHandle(handle, _BY_DESCRIPTOR, 0), "cuMemExportToShareableHandle")
    return DeviceMemory(handle, size_bytes), int(descriptor)


def open_device_memory(descriptor: int, size_bytes: int) -> DeviceMemory:
    """Map memory that another process made, and close its descriptor.

    Args:
        descriptor: from `make_device_memory`, sent to this process.
        size_bytes: of all of it.

    Raises:
        DriverError: it can't be mapped here.
    """
    try:
        _need_context()
        handle = check(
            cuda.cuMemImportFromShareableHandle(descriptor, _BY_DESCRIPTOR), "cuMemImportFromShareableHandle"
        )
        return DeviceMemory(handle, size_bytes)
    finally:
        os.close(descriptor)


def _need_context() -> None:
    torch.empty(1, device="cuda")  # torch makes a context at its first tensor


def _properties() -> Any:
    properties = cuda.CUmemAllocationProp()
    properties.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    properties.requestedHandleTypes = _BY_DESCRIPTOR
    return properties
