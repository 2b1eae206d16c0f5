"""Clock rates, throttle reasons and Xid errors as the driver reports them, through its own library.

That it is absent, or refuses, is not an error: then nothing is known.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from harness.replay.node.gpu_events import DOUBLE_BIT_ECC, LOST

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


_DOUBLE_BIT_ECC_EVENT, _XID_EVENT = 0x2, 0x8


class _EventData(ctypes.Structure):
    """nvmlEventData_t."""

    _fields_ = (
        ("device", ctypes.c_void_p),
        ("kind", ctypes.c_ulonglong),
        ("data", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


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
        self._events = ctypes.c_void_p()

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
            self._register(library)

    def read(self) -> Clocks | None:
        """Return the clocks now, None where they can't be read."""
        if self._library is None:
            return None
        reasons = ctypes.c_ulonglong()
        self._library.nvmlDeviceGetCurrentClocksThrottleReasons(self._device, ctypes.byref(reasons))
        named = tuple(name for bit, name in THROTTLE_REASONS.items() if reasons.value & bit)
        sm, memory = self._clock(_SM_CLOCK), self._clock(_MEMORY_CLOCK)
        return Clocks(sm, memory, self._unsigned("nvmlDeviceGetTemperature", _TEMPERATURE_GPU), named)

    def take_xids(self) -> list[int]:
        """Return the Xid errors since the last time; a double-bit ECC error counts as its Xid."""
        found: list[int] = []
        while self._library is not None and self._events:
            event = _EventData()
            code = self._library.nvmlEventSetWait_v2(self._events, ctypes.byref(event), 0)
            if code in LOST:  # the GPU is gone, and with it whatever would have told an Xid
                self._library = None
                return [*found, LOST[code]]
            if code != 0:
                break
            found.append(DOUBLE_BIT_ECC if event.kind & _DOUBLE_BIT_ECC_EVENT else int(event.data))
        return found

    def _register(self, library: ctypes.CDLL) -> None:
        """Ask to be told of errors; a driver that refuses tells nothing."""
        if not hasattr(library, "nvmlEventSetWait_v2"):  # a driver from before 2020
            return
        events = ctypes.c_void_p()
        if library.nvmlEventSetCreate(ctypes.byref(events)) != 0:
            return
        wanted = ctypes.c_ulonglong(_DOUBLE_BIT_ECC_EVENT | _XID_EVENT)
        if library.nvmlDeviceRegisterEvents(self._device, wanted, events) == 0:
            self._events = events

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
