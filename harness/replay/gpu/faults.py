"""What can go wrong while a plan runs on a GPU, and whose fault it is."""

from __future__ import annotations

import re

# CUresult names, as far as a kernel or a plan causes them. Whatever is not here is the machine's or ours.
_BY_KERNEL = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": ("illegal_address", "accessed memory that does not exist"),
    "CUDA_ERROR_MISALIGNED_ADDRESS": ("misaligned_address", "accessed memory at an address that is not aligned for it"),
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": ("illegal_address", "accessed memory in the wrong address space"),
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": ("kernel_fault", "executed an instruction that this GPU refuses"),
    "CUDA_ERROR_INVALID_PC": ("kernel_fault", "jumped outside of its code"),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": ("kernel_fault", "overflowed or corrupted its stack"),
    "CUDA_ERROR_ASSERT": ("kernel_fault", "failed an assertion"),
    "CUDA_ERROR_LAUNCH_FAILED": ("kernel_fault", "ended with an exception on the GPU"),
    "CUDA_ERROR_LAUNCH_TIMEOUT": ("timeout", "ran longer than the driver allows"),
    "CUDA_ERROR_TENSOR_MEMORY_LEAK": ("kernel_fault", "left tensor memory allocated"),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": ("out_of_resources", "asks for more registers or memory than a block has"),
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": ("grid_too_large", "waits for more blocks than fit on the GPU at once"),
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": ("out_of_resources", "asks for a cluster that does not fit on the GPU"),
    "CUDA_ERROR_INVALID_VALUE": ("invalid_launch", "cannot be launched with these sizes"),
}
_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"
_KERNEL_REASONS = frozenset(reason for reason, _ in _BY_KERNEL.values())

SUBMISSION_REASONS = _KERNEL_REASONS | {"out_of_bounds", "out_of_memory", "unsupported_kernel", "misaligned_argument"}
"""Reasons that count against the submission."""


class GpuError(Exception):
    """The replay ends here.

    Attributes:
        reason: one of `SUBMISSION_REASONS`, or "machine" or "internal", which are not the submission's.
        message: what happened, for a person.
        kernel: the kernel at fault, "" where that can't be told.
    """

    def __init__(self, reason: str, message: str, kernel: str = "") -> None:
        super().__init__(message)
        self.reason, self.message, self.kernel = reason, message, kernel


class DriverError(Exception):
    """A call of the CUDA driver failed; `code` is its name."""

    def __init__(self, code: str, doing: str) -> None:
        super().__init__(f"{doing}: {code}")
        self.code = code


def describe(code: str, kernel: str) -> GpuError:
    """Return the fault that a driver's error code stands for."""
    name = kernel or "a kernel"
    if code in _BY_KERNEL:
        reason, told = _BY_KERNEL[code]
        return GpuError(reason, f"{name} {told} ({code})", kernel)
    if code == _MEMORY:
        return GpuError("out_of_memory", f"the GPU's memory does not hold what the call allocates ({code})", kernel)
    return GpuError("machine", f"the GPU failed: {code}", kernel)


def blame(error: BaseException, sticky: str, kernel: str) -> GpuError:
    """Return the fault behind an exception.

    Args:
        error: what was raised.
        sticky: the context's own error code, "" if it is healthy.
        kernel: the kernel that ran, "" if several did.
    """
    if isinstance(error, GpuError):
        return error
    if sticky:
        return describe(sticky, kernel)
    if isinstance(error, DriverError):
        return describe(error.code, kernel)
    text = " ".join(str(error).split())[:400]
    if re.search(r"out of memory", text, re.IGNORECASE):
        return GpuError(
            "out_of_memory", f"the GPU's memory does not hold what the call allocates: {text[:200]}", kernel
        )
    return GpuError("internal", f"{type(error).__name__}: {text}", kernel)
