"""A compiled kernel on the GPU: loaded once, refused here if this GPU or this replay can't launch it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cuda.bindings import driver as cuda

from harness.artifact import Kernel, find_own_memory
from harness.kernel import KernelFacts
from harness.plan import LaunchStep
from harness.replay.gpu.arguments import MAP_BYTES, Parameter, ParameterBlock, TensorMap, bind_arguments
from harness.replay.gpu.driver import LaunchShape, check, configure, launch, load_function
from harness.replay.gpu.faults import DriverError, GpuError, describe

# The copy engine's numbers for element types differ from the ones that the compiler writes down.
_HOST_TYPES = {8: 10, 9: 8, 10: 9}


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel ready to be launched."""

    facts: KernelFacts
    ttir: str
    function: Any
    module: Any  # keeps the code loaded


@dataclass(frozen=True)
class BoundLaunch:
    """One launch of a plan, its arguments matched with its kernel's signature."""

    kernel: LoadedKernel
    shape: LaunchShape
    parameters: tuple[Parameter, ...]

    @property
    def scratch_bytes(self) -> tuple[int, int]:
        """How much global and profile scratch the launch needs."""
        facts, (x, y, z) = self.kernel.facts, self.shape.grid
        programs = x * y * z * facts.ctas
        return programs * facts.global_scratch_bytes, programs * facts.profile_scratch_bytes

    def enqueue(self, find_address: Callable[[int], int], scratch: tuple[int, int], stream: int) -> ParameterBlock:
        """Launch on a stream, with tensors at the addresses given; the result must be kept until it has run."""
        name = self.kernel.facts.name
        block = ParameterBlock(self.parameters, scratch, find_address, _encode_map, name)
        try:
            launch(self.kernel.function, self.shape, block.pointers, stream)
        except DriverError as error:
            raise describe(error.code, name) from None
        return block


def load_kernel(kernel: Kernel) -> LoadedKernel:
    """Load a kernel's machine code.

    Raises:
        GpuError: this GPU does not take it, or it could remember something where no poison is written.
    """
    facts = kernel.facts
    if told := find_own_memory(kernel):
        raise GpuError("unsupported_kernel", f"{facts.name} {told}", facts.name)
    try:
        module, function = load_function(kernel.cubin, facts.name)
    except DriverError as error:
        if error.code in ("CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_SOURCE", "CUDA_ERROR_INVALID_IMAGE"):
            raise GpuError("machine", f"{facts.name} was built for another GPU ({error.code})", facts.name) from None
        raise GpuError("machine", f"{facts.name} cannot be loaded: {error}", facts.name) from None
    try:
        configure(function, facts.shared_bytes, facts.ctas)
    except DriverError as error:
        told = f"{facts.name} asks for {facts.shared_bytes} bytes of shared memory, more than a block of this GPU has"
        raise GpuError("out_of_resources", f"{told} ({error.code})", facts.name) from None
    return LoadedKernel(facts, kernel.source.ttir, function, module)


def bind_launch(step: LaunchStep, kernel: LoadedKernel) -> BoundLaunch:
    """Match one launch with its kernel.

    Raises:
        GpuError: the arguments don't fit the signature, or are of an unknown kind.
    """
    facts = kernel.facts
    shape = LaunchShape(step.grid, facts.threads, facts.shared_bytes, facts.ctas, facts.cooperative, facts.dependent)
    return BoundLaunch(kernel, shape, bind_arguments(step, facts, kernel.ttir))


def _encode_map(parameter: TensorMap, address: int) -> bytes:
    """Return the 128 bytes that describe a tensor to the copy engine, axes from the fastest on."""
    window, layout = parameter.descriptor, parameter.layout
    kind = _HOST_TYPES.get(layout["elem_type"], layout["elem_type"])
    rank = len(window.shape)
    strides = [layout["elem_size"] * stride for stride in reversed(window.strides[:-1])]
    fill = cuda.CUtensorMapFloatOOBfill
    not_a_number = fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
    encoded = check(
        cuda.cuTensorMapEncodeTiled(
            cuda.CUtensorMapDataType(kind),
            rank,
            address,
            [cuda.cuuint64_t(size) for size in reversed(window.shape)],
            [cuda.cuuint64_t(stride) for stride in strides],
            [cuda.cuuint32_t(size) for size in reversed(layout["block_size"])],
            [cuda.cuuint32_t(1)] * rank,
            cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cuda.CUtensorMapSwizzle(layout["swizzle"]),
            cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            not_a_number if window.padding == "nan" else fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        ),
        "cuTensorMapEncodeTiled",
    )
    return ctypes.string_at(encoded.getPtr(), MAP_BYTES)
