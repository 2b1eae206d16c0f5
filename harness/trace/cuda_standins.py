"""What `torch.cuda` does while a submission is traced: streams and events do nothing, graphs are refused.

Owns the stand-ins for everything that would touch a device. A plan is one stream in program order, so that
synchronising changes nothing; timing returns a made-up number, and says so.
"""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from torch._subclasses.fake_tensor import FakeTensor

from harness.trace.blame import called_from
from harness.trace.failures import TraceError
from harness.trace.recorder import Recorder


class Stream:
    """The only stream; every stream is it."""

    cuda_stream = 0
    device = torch.device("cuda", 0)

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0

    def query(self) -> bool:
        """Report that all work is done."""
        return True

    def synchronize(self) -> None:
        """Do nothing: there is no other stream to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: there is no other stream to wait for."""

    def wait_event(self, event: Any) -> None:
        """Do nothing: there is no other stream to wait for."""

    def record_event(self, event: Any = None) -> Any:
        """Return the event, or a new one."""
        event_class: Any = torch.cuda.Event
        return event or event_class()


def install_standins(recorder: Recorder) -> None:
    """Put the stand-ins in torch's place in this process."""
    cuda: Any = torch.cuda
    cuda.Stream = cuda.ExternalStream = Stream
    cuda.stream = lambda stream: stream or Stream()
    cuda.current_stream = cuda.default_stream = lambda device=None: Stream()
    cuda.Event = _event_class(recorder)
    cuda.is_current_stream_capturing = lambda: False
    for name in _NOTHING_TO_DO:
        setattr(cuda, name, lambda *args, **kwargs: None)
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        setattr(cuda, name, lambda *args, **kwargs: 0)
    cuda.CUDAGraph = cuda.graph = cuda.make_graphed_callables = _refuse_graph
    _install_data_pointer(recorder)
    _install_compile(recorder)


_NOTHING_TO_DO = (
    "synchronize",
    "empty_cache",
    "set_device",
    "set_stream",
    "manual_seed",
    "manual_seed_all",
    "reset_peak_memory_stats",
    "ipc_collect",
)


def _event_class(recorder: Recorder) -> type:
    class Event:
        """An event that records nothing."""

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

        def record(self, *args: Any) -> None: ...

        def synchronize(self) -> None: ...

        def wait(self, *args: Any) -> None: ...

        def query(self) -> bool:
            return True

        def elapsed_time(self, other: Any) -> float:
            recorder.warn("the submission times something with CUDA events: every time it gets is 1.0 here")
            return 1.0

    return Event


def _refuse_graph(*args: Any, **kwargs: Any) -> NoReturn:
    raise TraceError("cuda_graph", "a CUDA graph of the submission's own: the harness captures the whole call itself")


def _install_data_pointer(recorder: Recorder) -> None:
    """Make the submission's `data_ptr()` an error; compilers get an address that shows only the alignment."""

    def data_ptr(tensor: torch.Tensor) -> int:
        if called_from(recorder.path):
            raise TraceError("data_pointer", "data_ptr(): a tensor has no address before the plan is replayed")
        return int(tensor.storage_offset()) * tensor.element_size()

    FakeTensor.data_ptr = data_ptr  # type: ignore[method-assign,assignment]


def _install_compile(recorder: Recorder) -> None:
    """Make `torch.compile` return its function: under a trace it dissolves into eager operators anyway."""

    def compile_nothing(model: Any = None, **options: Any) -> Any:
        recorder.warn("torch.compile has no effect: its operators are recorded one by one, as in eager mode")
        return model if model is not None else lambda function: function

    torch.compile = compile_nothing
