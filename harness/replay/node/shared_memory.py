"""The judge's end of the exchange: GPU memory is offered to every runner, and a file serves those that can't map it."""

from __future__ import annotations

from harness.replay.gpu.device_memory import make_device_memory
from harness.replay.gpu.exchange import Exchange
from harness.replay.gpu.faults import DriverError
from harness.replay.node.runner_process import RunnerProcess


class SharedMemory:
    """What this process shares with one runner after the other.

    Args:
        descriptor: of a file that each runner has.
        size_bytes: of that file, and of the GPU memory at least.
    """

    def __init__(self, descriptor: int, size_bytes: int) -> None:
        self._file = (descriptor, size_bytes)
        self._in_file: Exchange | None = None
        self._on_gpu: Exchange | None = None
        self._offered: tuple[int, int] | None = None
        try:
            made, offered = make_device_memory(size_bytes)
        except DriverError:
            return  # no sharing by descriptors here, or no memory left: the file does
        self._on_gpu = Exchange(made.memory, pinned=True)
        self._offered = (offered, made.memory.numel())

    def offer(self, runner: RunnerProcess) -> None:
        """Offer the GPU memory to a runner that has not been started."""
        runner.gpu_memory = self._offered

    def shared_with(self, runner: RunnerProcess) -> Exchange:
        """Return what a runner that has started can see."""
        if self._on_gpu is not None and runner.started.get("on_gpu"):
            return self._on_gpu
        if self._in_file is None:
            self._in_file = Exchange.in_file(*self._file)
        return self._in_file
