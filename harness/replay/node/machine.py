"""What a GPU machine is: its GPU, driver and versions, and what its clocks did during a replay."""

from __future__ import annotations

import platform
import threading
from importlib.metadata import version

import torch
from cuda.bindings import driver as cuda

from harness.replay.gpu.driver import check, describe_device
from harness.replay.node.gpu_events import encode_xids
from harness.replay.node.nvml import Clocks, Nvml

PERIOD_S = 0.1

Facts = dict[str, str | int | float]


def open_nvml() -> Nvml:
    """Return NVML for the GPU that CUDA shows as the first."""
    nvml = Nvml()
    device = check(cuda.cuDeviceGet(0), "cuDeviceGet")
    bus = check(cuda.cuDeviceGetPCIBusId(32, device), "cuDeviceGetPCIBusId")
    nvml.open(bus.split(b"\0")[0].decode("ascii"))
    return nvml


def describe_node(nvml: Nvml) -> Facts:
    """Return the machine's facts: what a score depends on beside the kernel."""
    device = describe_device()
    return {
        "gpu": device.name,
        "capability": f"{device.capability[0]}.{device.capability[1]}",
        "gpu_memory_bytes": device.memory_bytes,
        "l2_mib": device.l2_bytes >> 20,
        "driver": nvml.driver_version(),
        "cuda_driver": device.driver_version,
        "addresses_host_memory": int(device.addresses_host_memory),
        "torch": str(torch.__version__),
        "cuda_bindings": version("cuda-bindings"),
        "python": platform.python_version(),
    }


class ClockWatch:
    """Looks at the clocks now and then while a replay runs."""

    def __init__(self, nvml: Nvml) -> None:
        self._nvml, self._seen = nvml, list[Clocks]()
        self._xids: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ClockWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def facts(self) -> Facts:
        """Return the range of rates, every throttle reason and every Xid error seen."""
        self._xids += self._nvml.take_xids()
        xids = encode_xids(self._xids)
        if not self._seen:
            return {"xids": xids}
        rates, reasons = sorted(look.sm_mhz for look in self._seen), {r for look in self._seen for r in look.throttle}
        return {
            "sm_mhz_lowest": rates[0],
            "sm_mhz_median": rates[len(rates) // 2],
            "sm_mhz_highest": rates[-1],
            "memory_mhz": max(look.memory_mhz for look in self._seen),
            "temperature_c_highest": max(look.temperature_c for look in self._seen),
            "throttle": ",".join(sorted(reasons)),
            "xids": xids,
        }

    def _watch(self) -> None:
        while not self._stop.wait(PERIOD_S):
            clocks = self._nvml.read()
            if clocks is None:
                return
            self._seen.append(clocks)
            self._xids += self._nvml.take_xids()
