"""Clock rates and throttle reasons as the driver reports them, through its own library. Absent is not an error."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_TEMPERATURE_GPU = 0

# Bits of nvmlDeviceGetCurrentClocksEventReasons that make a GPU slower than its clocks allow.
THROTTLE_REASONS = {
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x20: "software_thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
}


@dataclass(frozen=True)
class Clocks:
    """One look at the clocks: MHz, degrees, and why the GPU is slowed down, if it is."""

    sm_mhz: int
    memory_mhz: int
    temperature_c: int
    throttle: tuple[str, ...]


class Nvml:
    """The first visible GPU, seen through NVML."""

    def __init__(self) -> None:
        self._library: ctypes.CDLL | None = None
        self._device = ctypes.c_void_p()

    def open(self, bus_id: str) -> None:
        """Find the GPU by its PCI bus id; without the library nothing is ever read."""
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        found = library.nvmlInit_v2() == 0
        name = bus_id.encode()
        if found and library.nvmlDeviceGetHandleByPciBusId_v2(name, ctypes.byref(self._device)) == 0:
            self._library = library

    def read(self) -> Clocks | None:
        """Return the clocks now, None where they can't be read."""
        if self._library is None:
            return None
        reasons = ctypes.c_ulonglong()
        self._library.nvmlDeviceGetCurrentClocksThrottleReasons(self._device, ctypes.byref(reasons))
        named = tuple(name for bit, name in THROTTLE_REASONS.items() if reasons.value & bit)
        sm, memory = self._clock(_SM_CLOCK), self._clock(_MEMORY_CLOCK)
        return Clocks(sm, memory, self._unsigned("nvmlDeviceGetTemperature", _TEMPERATURE_GPU), named)

    def driver_version(self) -> str:
        """Return the driver's version, "" where it can't be read."""
        if self._library is None:
            return ""
        text = ctypes.create_string_buffer(96)
        self._library.nvmlSystemGetDriverVersion(text, 96)
        return text.value.decode("ascii", "replace")

    def _clock(self, kind: int) -> int:
        return self._unsigned("nvmlDeviceGetClockInfo", kind)

    def _unsigned(self, function: str, kind: int) -> int:
        value = ctypes.c_uint()
        assert self._library is not None
        code = getattr(self._library, function)(self._device, kind, ctypes.byref(value))
        return int(value.value) if code == 0 else 0
