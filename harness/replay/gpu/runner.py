"""The runner's process: `node.pyz runner ARTIFACT DESCRIPTOR SIZE SOCKET REPLIES`.

It serves one submission and dies. Requests come from the judge's side on stdin, one JSON object a line; replies go to
the descriptor REPLIES. It is given the current call's inputs and nothing else: no seed, no expected value. Once torch
is loaded it says {"status": "loaded"} of its own accord; it leaves the GPU alone until it is told to start. Where the
judge offers GPU memory for the exchange, its descriptor comes through SOCKET; else the file DESCRIPTOR is used.

    {"do": "start", "gpu_bytes": 2097152}                     -> {"status": "started", "clock": true, ...}
    {"do": "prepare", "shape_id": "...", "slots": 4}          -> {"status": "ready"}
    {"do": "check_steps", "inputs": ...}                      -> {"status": "done"}
    {"do": "capture"}                                         -> {"status": "captured", "nodes": 1}
    {"do": "call", "slot": 1, "inputs": ..., "outputs": ...,
     "after": ..., "other_poison": false}                     -> {"status": "done", "events_us": 9.1}
    {"do": "spans"}                                           -> {"status": "spans", "spans": [[us, records], ...]}

Before the reply that ends a call, stray stores are looked for and the arena is poisoned again: not while the judge
looks at what was returned, because two processes at work on one GPU take turns. Any fault ends the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from harness.artifact import Artifact, load_artifact
from harness.plan import Plan
from harness.replay.gpu.arena import Arena
from harness.replay.gpu.device_memory import open_device_memory
from harness.replay.gpu.driver import describe_device, sticky_error
from harness.replay.gpu.exchange import Exchange
from harness.replay.gpu.faults import DriverError, GpuError, blame
from harness.replay.gpu.kernels import LoadedKernel, load_kernel
from harness.replay.gpu.layout import Part
from harness.replay.gpu.program import Memory, Program, Slot
from harness.replay.gpu.span_clock import SpanClock, start_span_clock
from harness.replay.lines import AWAKE_S, Lines

_LINE_BYTES = 4 << 20


class Runner:
    """Executes the plans of one artifact."""

    def __init__(self, artifact: Artifact, exchange: Exchange, clock: SpanClock | None) -> None:
        self._artifact, self._exchange, self._clock = artifact, exchange, clock
        self._kernels: list[dict[str, LoadedKernel]] = []  # of each slot, loaded apart
        self._arena = Arena(describe_device().l2_bytes)
        self._programs: list[Program] = []  # of each slot
        self._slots: list[Slot] = []
        self._last: Slot | None = None
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]

    @property
    def only_kernel(self) -> str:
        """The name of the kernel at work, "" if there are several."""
        return self._programs[0].only_kernel if self._programs else ""

    def warm_up(self) -> None:
        """Go once through what surrounds a call, so that torch has loaded it. Nothing of the artifact's runs."""
        nothing = Slot(None, Memory(), (0, 0), 0)
        self._arena.rewrite()
        with self._clock or contextlib.nullcontext():
            self._arena.flush()
            for event in self._events:
                event.record()
        self._arena.begin_search(nothing)
        self._arena.end_search()
        self._arena.restore()
        torch.cuda.synchronize()

    def prepare(self, shape_id: str, slots: int) -> dict[str, Any]:
        """Load a shape's kernels, for each slot its own: where code lies moves a short kernel's time by a percent."""
        self._slots, self._programs, self._last = [], [], None
        torch.cuda.empty_cache()
        plan = self._artifact.plans[shape_id]
        self._kernels += [{} for _ in range(slots - len(self._kernels))]
        self._programs = [self._load_program(plan, kernels) for kernels in self._kernels[:slots]]
        return {"status": "ready"}

    def _load_program(self, plan: Plan, kernels: dict[str, LoadedKernel]) -> Program:
        for key in dict.fromkeys(launch.kernel for launch in plan.launches):
            if key not in kernels:
                kernels[key] = load_kernel(self._artifact.kernels[key])
        return Program(self._artifact, plan, kernels)

    def check_steps(self, inputs: list[Part | None]) -> dict[str, Any]:
        """Run one call step by step, waiting for each: what faults here has a name.

        It goes before the capture, in which a library that an operator needs could not come up.
        """
        program, memory = self._programs[0], Memory()
        program.place_inputs(memory)
        self._fill(program, memory, inputs)
        program.run_checked(memory)
        return {"status": "done"}

    def capture(self) -> dict[str, Any]:
        """Capture the call once for each slot, at addresses of its own; what was stored before is gone."""
        torch.cuda.empty_cache()
        self._slots = [program.capture() for program in self._programs]
        self._arena.rewrite()
        return {"status": "captured", "nodes": self._slots[0].nodes}

    def call(
        self, number: int, inputs: list[Part | None], outputs: list[Part], after: list[Part | None]
    ) -> dict[str, Any]:
        """Make one call in a slot of the rewritten arena: place the inputs, flush, replay, hand over the outputs.

        Args:
            number: the slot.
            inputs: where each input lies in the exchange; None for a buffer, which keeps its poison.
            outputs: where each output goes.
            after: where each input goes after the call.
        """
        slot, program = self._slots[number], self._programs[number]
        self._fill(program, slot.memory, inputs)
        with self._clock or contextlib.nullcontext():
            self._arena.flush()  # still at work while the call is launched, so that events see no launch
            self._events[0].record()
            slot.graph.replay()
            self._events[1].record()
            torch.cuda.synchronize()
        self._last, plan = slot, program.plan
        pairs = [*zip(plan.outputs, outputs, strict=True), *zip(plan.inputs, after, strict=True)]
        for tensor, part in pairs:
            if part is not None:
                self._exchange.tensor(part).copy_(slot.memory.tensors[tensor], non_blocking=True)
        torch.cuda.synchronize()
        return {"status": "done", "events_us": self._events[0].elapsed_time(self._events[1]) * 1000}

    def tidy(self, *, other_poison: bool) -> None:
        """Look for stray stores of the last call, and poison the arena for the next one.

        Args:
            other_poison: than this call's: bits that depend on memory which nobody wrote must not come to the same.

        Raises:
            GpuError: there was one.
        """
        assert self._last is not None
        slot, self._last = self._last, None
        self._arena.begin_search(slot)
        if self._arena.end_search() is not None:
            raise self._blame_stray(slot)
        if other_poison:
            self._arena.rewrite()
        else:
            self._arena.restore()

    def take_spans(self) -> dict[str, Any]:
        """Return the span of each call since the last time."""
        spans = self._clock.take() if self._clock else []
        return {"status": "spans", "spans": [[span.span_us, span.records] for span in spans]}

    def _fill(self, program: Program, memory: Memory, inputs: list[Part | None]) -> None:
        for number, part in zip(program.plan.inputs, inputs, strict=True):
            if part is not None:
                memory.tensors[number].copy_(self._exchange.tensor(part), non_blocking=True)
        program.fill_constants(memory)

    def _blame_stray(self, slot: Slot) -> GpuError:
        """Launch the kernels once more, one by one, and name the one that stores outside of its tensors."""
        program = self._programs[0]
        name = program.only_kernel
        for index in range(len(program.plan.steps)) if not name else ():
            self._arena.rewrite()
            self._arena.flush()
            launched = program.launch_again(index, slot.memory)
            self._arena.begin_search(slot)
            if self._arena.end_search() is not None and launched:
                name = launched
                break
        told = name or f"one of {', '.join(program.kernel_names)}"
        return GpuError("out_of_bounds", f"{told} wrote to memory that belongs to no tensor of its launch", name)


def _part(fields: list[Any] | None) -> Part | None:
    return None if fields is None else Part(int(fields[0]), str(fields[1]), tuple(int(size) for size in fields[2]))


def _answer(runner: Runner, message: dict[str, Any]) -> dict[str, Any]:
    inputs = [_part(fields) for fields in message.get("inputs", ())]
    if message["do"] == "prepare":
        return runner.prepare(message["shape_id"], message["slots"])
    if message["do"] == "check_steps":
        return runner.check_steps(inputs)
    if message["do"] == "capture":
        return runner.capture()
    if message["do"] == "spans":
        return runner.take_spans()
    outputs = [part for part in map(_part, message["outputs"]) if part is not None]
    reply = runner.call(message["slot"], inputs, outputs, [_part(fields) for fields in message["after"]])
    runner.tidy(other_poison=message["other_poison"])
    return reply


def _serve(requests: Lines, send: Callable[[dict[str, Any]], None], start: Callable[[int], Runner]) -> int:
    runner: Runner | None = None
    try:
        send({"status": "loaded"})
        runner = start(int(json.loads(requests.read())["gpu_bytes"]))
        while True:
            message = json.loads(requests.read())
            send(_answer(runner, message))
    except EOFError:
        return 0  # nobody wants it any more
    except Exception as error:
        try:
            sticky = sticky_error()
        except Exception:  # no context was ever made
            sticky = ""
        fault = blame(error, sticky, runner.only_kernel if runner else "")
        send({"status": "fault", "reason": fault.reason, "message": fault.message, "kernel": fault.kernel})
        return 1


def _open_exchange(arguments: list[str], gpu_bytes: int) -> Exchange:
    """Map what the judge shares: GPU memory if it offers some and that can be had here, else the file."""
    with socket.socket(fileno=int(arguments[3])) as channel:
        descriptors = socket.recv_fds(channel, 1, 1)[1] if gpu_bytes else []
    if descriptors:
        with contextlib.suppress(DriverError):
            return Exchange(open_device_memory(descriptors[0], gpu_bytes).memory, pinned=True)
    return Exchange.in_file(int(arguments[1]), int(arguments[2]))


def main(arguments: list[str]) -> int:
    """Serve one submission until stdin ends or something faults."""
    replies = os.fdopen(int(arguments[4]), "w", encoding="utf-8")

    def send(reply: dict[str, Any]) -> None:
        replies.write(json.dumps(reply) + "\n")
        replies.flush()

    def start(gpu_bytes: int) -> Runner:
        clock, why_not = start_span_clock()
        torch.cuda.init()  # type: ignore[no-untyped-call]
        torch.set_grad_enabled(False)
        exchange = _open_exchange(arguments, gpu_bytes)
        about = {"clock": clock is not None, "why_no_clock": why_not}
        # Told before anything hostile is read: whether it comes up depends on the machine and the sandbox alone.
        send({"status": "started", **about, "pinned": exchange.pinned, "on_gpu": exchange.on_gpu})
        runner = Runner(load_artifact(Path(arguments[0])), exchange, clock)
        runner.warm_up()
        return runner

    code = _serve(Lines(0, _LINE_BYTES, AWAKE_S), send, start)
    replies.flush()
    os._exit(code)  # tearing down a context that faulted can hang
