"""A described GPU in the place of torch's, so that submissions, Helion and Triton find the target they ask for.

Owns what torch says about the device: its presence, properties and capability. What a submission *does* with
`torch.cuda` (streams, events, graphs) is `cuda_standins`' business, and Triton's view is `described_triton`'s.
Nothing here protects anything: the process is the submission's, and what it records is hostile data.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from harness.errors import ToolchainError
from harness.target import Target
from harness.trace.described_triton import install_triton

CUDA_VERSION = "13.0"

# c10::DeviceType::CUDA, and the registry in which c10 looks up a device type's guard.
_CUDA_TYPE = 1
_GUARD_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"


def install_gpu(target: Target) -> None:
    """Make torch and Triton believe in this process that one GPU of the kind `target` is present."""
    _install_device_guard()
    _install_torch_answers(target)
    install_triton(target)


def device_properties(target: Target) -> SimpleNamespace:
    """Return the target in the form of `torch.cuda.get_device_properties`."""
    return SimpleNamespace(
        name=target.title,
        major=target.capability[0],
        minor=target.capability[1],
        multi_processor_count=target.multiprocessors,
        total_memory=target.memory_bytes,
        warp_size=target.warp_size,
        max_threads_per_multi_processor=target.max_threads_per_multiprocessor,
        max_threads_per_block=target.max_threads_per_block,
        regs_per_multiprocessor=target.registers_per_multiprocessor,
        shared_memory_per_block=target.shared_memory_per_block_bytes,
        shared_memory_per_block_optin=target.shared_memory_per_block_optin_bytes,
        shared_memory_per_multiprocessor=target.shared_memory_per_multiprocessor_bytes,
        L2_cache_size=target.l2_bytes,
        clock_rate=target.clock_khz,
        memory_clock_rate=target.memory_clock_khz,
        memory_bus_width=target.memory_bus_bits,
        gcnArchName="",
        is_integrated=0,
        is_multi_gpu_board=0,
        uuid="0",
        pci_bus_id=0,
    )


def _install_torch_answers(target: Target) -> None:
    properties = device_properties(target)
    cuda: Any = torch.cuda
    cuda.is_available = lambda: True
    cuda.is_initialized = lambda: True
    cuda.init = cuda._lazy_init = lambda: None
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.get_device_properties = lambda device=None: properties
    cuda.get_device_capability = lambda device=None: target.capability
    cuda.get_device_name = lambda device=None: target.title
    cuda.mem_get_info = lambda device=None: (target.memory_bytes, target.memory_bytes)
    cuda._exchange_device = cuda._maybe_exchange_device = lambda device: 0
    torch.version.cuda = torch.version.cuda or CUDA_VERSION


def _install_device_guard() -> None:
    """Let torch handle fake CUDA tensors without a CUDA device, in operators written in C++ too.

    Both steps are what torch does of itself in a CUDA build that finds no GPU: a device guard that does nothing, and
    fake tensor modes that do not start a device for a constant. A CPU build has no guard to replace, so it is given
    one that reports no devices; a build that has one need not be asked whether there is a GPU.

    Raises:
        ToolchainError: this torch keeps its guards elsewhere.
    """
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    try:
        registry = (ctypes.c_void_p * (_CUDA_TYPE + 1)).in_dll(library, _GUARD_REGISTRY)
    except ValueError:
        raise ToolchainError(f"torch {torch.__version__} has no registry of device guards where we know it") from None
    no_devices = ctypes.CFUNCTYPE(ctypes.c_int8)(lambda: 0)
    methods = (ctypes.c_void_p * 64)(*[ctypes.cast(no_devices, ctypes.c_void_p).value] * 64)
    guard = (ctypes.c_void_p * 1)(ctypes.addressof(methods))
    registry[_CUDA_TYPE] = ctypes.addressof(guard)
    torch._C._ensureCUDADeviceGuardSet()  # asks for the number of devices, and puts the guard that does nothing
    if registry[_CUDA_TYPE] == ctypes.addressof(guard):
        raise ToolchainError(f"torch {torch.__version__} does not replace the device guard where there is no GPU")
    FakeTensorMode.avoid_device_init = property(lambda mode: True)  # type: ignore[method-assign,assignment]
    # A fake tensor needs no context; a CUDA build would start one.
    fake_tensor.init_gpu_context = lambda device: None  # type: ignore[assignment]
