"""The few calls of the CUDA driver that replay needs, each checked."""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from typing import Any

from cuda.bindings import driver as cuda

from harness.replay.gpu.faults import DriverError

DEFAULT_SHARED_BYTES = 48 << 10  # more must be asked for
PORTABLE_CLUSTER = 8  # larger clusters must be asked for


@dataclass(frozen=True)
class LaunchShape:
    """How a kernel is launched: blocks, threads, memory and attributes."""

    grid: tuple[int, int, int]
    threads: int
    shared_bytes: int
    ctas: int
    cooperative: bool
    dependent: bool


def check(result: tuple[Any, ...], doing: str) -> Any:
    """Return what a driver call returned beside its code.

    Raises:
        DriverError: the code is not success.
    """
    if result[0] != cuda.CUresult.CUDA_SUCCESS:
        raise DriverError(_name(result[0]), doing)
    return result[1] if len(result) == 2 else result[1:]


def _name(code: Any) -> str:
    return str(getattr(code, "name", code))


def sticky_error() -> str:
    """Return the code of the error that the current context is stuck in, "" if it is healthy."""
    (code,) = cuda.cuCtxSynchronize()
    return "" if code == cuda.CUresult.CUDA_SUCCESS else _name(code)


def end_context() -> None:
    """End this process's context on GPU 0 now, not some time after the process. No call to CUDA may follow."""
    with contextlib.suppress(DriverError):  # then it ends with the process
        check(cuda.cuDevicePrimaryCtxReset(check(cuda.cuDeviceGet(0), "cuDeviceGet")), "cuDevicePrimaryCtxReset")


def load_function(cubin: bytes, name: str) -> tuple[Any, Any]:
    """Load machine code; return its module, which must be kept, and the function called `name`."""
    module = check(cuda.cuModuleLoadData(cubin), "cuModuleLoadData")
    return module, check(cuda.cuModuleGetFunction(module, name.encode()), "cuModuleGetFunction")


def configure(function: Any, shared_bytes: int, ctas: int) -> None:
    """Ask for what a launch does not get by itself: much shared memory, large clusters."""
    attribute = cuda.CUfunction_attribute
    if shared_bytes > DEFAULT_SHARED_BYTES:
        wanted = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check(cuda.cuFuncSetAttribute(function, wanted, shared_bytes), "cuFuncSetAttribute(shared memory)")
    if ctas > PORTABLE_CLUSTER:
        wanted = attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        check(cuda.cuFuncSetAttribute(function, wanted, 1), "cuFuncSetAttribute(cluster)")


def launch(function: Any, shape: LaunchShape, parameters: ctypes.Array[ctypes.c_void_p], stream: int) -> None:
    """Launch a kernel on a stream.

    Args:
        function: from `load_function`.
        shape: its sizes; `grid` counts clusters along x.
        parameters: the address of each parameter's value.
        stream: the stream's handle.
    """
    config = cuda.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid[0] * shape.ctas, shape.grid[1], shape.grid[2]
    config.blockDimX, config.blockDimY, config.blockDimZ = shape.threads, 1, 1
    config.sharedMemBytes = shape.shared_bytes
    config.hStream = cuda.CUstream(stream)
    config.attrs = _attributes(shape)
    config.numAttrs = len(config.attrs)
    check(cuda.cuLaunchKernelEx(config, function, ctypes.addressof(parameters), 0), "cuLaunchKernelEx")


def _attributes(shape: LaunchShape) -> list[Any]:
    ids, found = cuda.CUlaunchAttributeID, []
    if shape.dependent:
        found.append(_attribute(ids.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
        found[-1].value.programmaticStreamSerializationAllowed = 1
    if shape.cooperative:
        found.append(_attribute(ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
        found[-1].value.cooperative = 1
    if shape.ctas > 1:
        found.append(_attribute(ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
        found[-1].value.clusterDim.x = shape.ctas
        found[-1].value.clusterDim.y = found[-1].value.clusterDim.z = 1
        found.append(_attribute(ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE))
        spread = cuda.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
        found[-1].value.clusterSchedulingPolicyPreference = spread
    return found


def _attribute(kind: Any) -> Any:
    attribute = cuda.CUlaunchAttribute()
    attribute.id = kind
    return attribute


def count_nodes(graph: int) -> int:
    """Return how many kernel, memcpy and memset nodes a captured graph has."""
    handle = cuda.CUgraph(graph)
    _, count = check(cuda.cuGraphGetNodes(handle, 0), "cuGraphGetNodes")
    nodes, _ = check(cuda.cuGraphGetNodes(handle, count), "cuGraphGetNodes")
    kinds = cuda.CUgraphNodeType
    timed = (kinds.CU_GRAPH_NODE_TYPE_KERNEL, kinds.CU_GRAPH_NODE_TYPE_MEMCPY, kinds.CU_GRAPH_NODE_TYPE_MEMSET)
    return sum(check(cuda.cuGraphNodeGetType(node), "cuGraphNodeGetType") in timed for node in nodes[:count])


@dataclass(frozen=True)
class Device:
    """What the current GPU says of itself."""

    name: str
    capability: tuple[int, int]
    l2_bytes: int
    memory_bytes: int
    driver_version: int
    addresses_host_memory: bool


def find_uuid() -> str:
    """Return the name of GPU 0 that is its own in every process: its UUID, or that of a slice of it."""
    check(cuda.cuInit(0), "cuInit")
    ask = getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid  # bindings of CUDA 12 have both
    uuid = check(ask(check(cuda.cuDeviceGet(0), "cuDeviceGet")), "cuDeviceGetUuid")
    return bytes(uuid.bytes)[:16].hex()


def describe_device() -> Device:
    """Return what GPU 0 says of itself."""
    device = check(cuda.cuDeviceGet(0), "cuDeviceGet")
    ids = cuda.CUdevice_attribute

    def attribute(name: str) -> int:
        return int(check(cuda.cuDeviceGetAttribute(getattr(ids, f"CU_DEVICE_ATTRIBUTE_{name}"), device), name))

    name = check(cuda.cuDeviceGetName(128, device), "cuDeviceGetName")
    return Device(
        name=name.split(b"\0")[0].decode("ascii", "replace"),
        capability=(attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")),
        l2_bytes=attribute("L2_CACHE_SIZE"),
        memory_bytes=int(check(cuda.cuDeviceTotalMem(device), "cuDeviceTotalMem")),
        driver_version=int(check(cuda.cuDriverGetVersion(), "cuDriverGetVersion")),
        addresses_host_memory=bool(attribute("PAGEABLE_MEMORY_ACCESS")),
    )
