"""A described GPU in the place of Triton's driver, so that Triton generates code for a GPU that is not there.

Owns the driver object and nothing else. It does not import torch: the assembler, which has no use for torch,
installs a target with this module alone. `described_gpu` adds what torch and Helion ask.
"""

from __future__ import annotations

from typing import Any, NoReturn

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import driver

from harness.target import Target


def gpu_target(target: Target) -> GPUTarget:
    """Return a target in Triton's own terms."""
    return GPUTarget("cuda", target.architecture, target.warp_size)


def install_triton(target: Target) -> None:
    """Make Triton believe in this process that `target` is the active GPU."""
    driver.set_active(DescribedDriver(target))


class DescribedProperties:
    """What Triton's driver module answers about a device; it loads nothing."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def get_device_properties(self, device: int) -> dict[str, int]:
        """Return the properties that Triton reads, under Triton's names."""
        target = self._target
        return {
            "max_shared_mem": target.shared_memory_per_block_optin_bytes,
            "max_num_regs": target.registers_per_multiprocessor,
            "multiprocessor_count": target.multiprocessors,
            "warpSize": target.warp_size,
            "sm_clock_rate": target.clock_khz,
            "mem_clock_rate": target.memory_clock_khz,
            "mem_bus_width": target.memory_bus_bits,
        }

    def load_binary(self, *arguments: Any) -> NoReturn:
        """Refuse: there is no GPU to load a kernel to."""
        raise RuntimeError("a described GPU cannot load a kernel")


class DescribedDriver(DriverBase):  # type: ignore[misc]
    """A Triton driver for a GPU that is only described."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.utils = DescribedProperties(target)

    @classmethod
    def is_active(cls) -> bool:
        """Answer Triton's question whether this driver can be used."""
        return True

    def get_current_target(self) -> GPUTarget:
        """Return the described GPU."""
        return gpu_target(self._target)

    def get_current_device(self) -> int:
        """Return the only device's index."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Accept any device: there is one."""

    def get_current_stream(self, device: int) -> int:
        """Return the default stream's handle."""
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        """Return the compute capability as (major, minor)."""
        return self._target.capability

    def get_active_torch_device(self) -> Any:
        """Return torch's name of the device."""
        import torch

        return torch.device("cuda", 0)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Return the type unchanged: no C++ launcher is made."""
        return ty

    def get_benchmarker(self) -> NoReturn:
        """Refuse: nothing is timed on a described GPU."""
        raise RuntimeError("a described GPU cannot time a kernel")
