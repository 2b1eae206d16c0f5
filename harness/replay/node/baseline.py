"""Baselines on a GPU machine: how long torch takes for what a problem asks, eagerly and compiled.

Both run the problem's own reference, in float32 where it says float64, and are timed as submissions are: one call is
one CUDA graph, by the score clock, on a cold L2 and fresh inputs, in as many slots, which share one copy of the code
here. All of it is trusted code, so judge and runner are one process here. A baseline that cannot be captured into a
graph, or compiled, has no time and says why.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode

from harness.replay.gpu.cold_cache import ColdCache, new_tile
from harness.replay.inputs import Request, draw_inputs
from harness.replay.reference import Reference, Tensors
from harness.replay.timing import mean_of_faster, slot_count, slot_order

SAMPLES = 64  # a multiple of any number of slots
_WARM_UPS = 3

Call = Callable[..., Tensors]


class _InFloat32(TorchFunctionMode):
    """Whatever asks for float64 gets float32."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        if func is torch.Tensor.double:
            return args[0].float()
        lowered = [torch.float32 if value is torch.float64 else value for value in args]
        named = {name: torch.float32 if v is torch.float64 else v for name, v in (kwargs or {}).items()}
        return func(*lowered, **named)


@dataclass(frozen=True)
class Measured:
    """One baseline of one case: its time in microseconds, or why there is none."""

    time_us: float | None
    note: str = ""


def eager_call(reference: Reference, sizes: Mapping[str, int]) -> Call:
    """Return the reference as a function of its inputs, in float32."""

    def call(*inputs: torch.Tensor) -> Tensors:
        with torch.no_grad(), _InFloat32():
            return tuple(reference.reference(inputs, dict(sizes)))

    return call


def recorded_call(eager: Call, inputs: Tensors) -> Call:
    """Return the same as a graph of torch's operations for inputs of this form, loops unrolled."""
    graph: Call = make_fx(eager)(*inputs)
    return graph


def compiled_call(eager: Call, inputs: Tensors) -> Call:
    """Return the same, compiled by torch for inputs of this form."""
    return torch.compile(recorded_call(eager, inputs), dynamic=False)


def measure_case(reference: Reference, sizes: Mapping[str, int], distribution: str, clock: Any) -> dict[str, Measured]:
    """Measure a benchmark's baselines on the GPU.

    Args:
        reference: the problem's.
        sizes: the shape.
        distribution: of the inputs.
        clock: the score clock (`gpu.span_clock`).
    """
    given = [number for number, spec in enumerate(reference.problem.inputs) if not spec.buffer]

    def draw() -> Tensors:
        request = Request(tuple(sorted(sizes.items())), distribution, secrets.randbits(63))
        made = draw_inputs(reference, request, "cuda")
        return tuple(made[number] for number in given)

    eager = eager_call(reference, sizes)
    found: dict[str, Measured] = {}
    for name in ("eager", "compile"):
        try:
            call = eager if name == "eager" else compiled_call(eager, draw())
            found[name] = Measured(time_call(call, draw, clock))
        except Exception as error:  # of torch's own: it says what of the reference it cannot do
            found[name] = Measured(None, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            with contextlib.suppress(RuntimeError):
                torch.cuda.synchronize()
    return found


def time_call(
    call: Call, draw: Callable[[], Tensors], clock: Any, before_slot: Callable[[], None] = lambda: None
) -> float:
    """Return the time of a call in microseconds: several slots, and each call on inputs of its own.

    Args:
        call: what is timed; it is captured into CUDA graphs.
        draw: makes inputs of one form.
        clock: the score clock.
        before_slot: is called before each slot's capture.
    """
    first = draw()
    count = slot_count(2 * sum(tensor.nbytes for tensor in first))  # and about as much for what is computed
    slots = []
    for number in range(count):
        before_slot()
        slots.append(_capture(call, draw() if number else first))
    cold = ColdCache(new_tile().zero_(), torch.cuda.get_device_properties().L2_cache_size)

    def refresh(slot: int) -> None:
        for old, new in zip(slots[slot][1], draw(), strict=True):
            old.copy_(new)

    def replay(slot: int) -> None:
        cold.flush()
        slots[slot][0].replay()
        torch.cuda.synchronize()

    return time_slots(count, refresh, replay, clock)


def time_slots(count: int, prepare: Callable[[int], None], run: Callable[[int], None], clock: Any) -> float:
    """Return the time that the score clock gives for running slots, each equally often, in an order drawn anew.

    Args:
        count: of slots.
        prepare: makes a slot ready for its next run, untimed.
        run: runs a slot to its end.
        clock: the score clock; what it recorded before counts for nothing.

    Raises:
        RuntimeError: the clock has not one record for each run.
    """
    order = list(islice(slot_order(count, secrets.SystemRandom()), SAMPLES))
    clock.take()
    for slot in order:
        prepare(slot)
        with clock:
            run(slot)
    spans = [span.span_us for span in clock.take()]
    if len(spans) != len(order):
        raise RuntimeError(f"the clock recorded {len(spans)} of {len(order)} calls")
    return mean_of_faster(spans)


def _capture(call: Call, inputs: Tensors) -> tuple[Any, Tensors]:
    """Return a graph of the call, and where it reads."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UPS):
            call(*inputs)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call(*inputs)
    return graph, inputs
