"""One plan, executable: bound to loaded kernels, run step by step or captured into graphs at addresses of their own.

A `Slot` is one capture: a graph whose every tensor lies in memory that no other slot uses. Nothing is allocated when it
is replayed. Written-out constants are placed with the inputs, since they depend on none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.artifact import Artifact
from harness.plan import DTYPE_BYTES, ConstantStep, LaunchStep, OpStep, Plan, TensorMeta
from harness.replay.gpu.driver import count_nodes, sticky_error
from harness.replay.gpu.faults import GpuError, describe
from harness.replay.gpu.host import find_operator, run_operator
from harness.replay.gpu.kernels import BoundLaunch, LoadedKernel, bind_launch

GUARD_BYTES = 4096  # between small tensors, so that a step over an edge does not land in the next one


@dataclass
class Memory:
    """The tensors of one execution, and what else must stay alive while it may run.

    Attributes:
        tensors: by their number in the plan.
        scratch: of each launch, in order.
        kept: guards and parameter blocks.
        temporaries: an operator used memory that is no tensor of the plan.
    """

    tensors: dict[int, torch.Tensor] = field(default_factory=dict)
    scratch: list[tuple[torch.Tensor | None, torch.Tensor | None]] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    temporaries: bool = False

    def find_address(self, number: int) -> int:
        """Return a tensor's address."""
        return self.tensors[number].data_ptr()

    def intervals(self) -> Iterable[tuple[int, int]]:
        """Yield start and end of everything that the plan may write."""
        owned = [*self.tensors.values(), *(t for pair in self.scratch for t in pair if t is not None)]
        for tensor in owned:
            storage = tensor.untyped_storage()
            yield storage.data_ptr(), storage.data_ptr() + storage.nbytes()


@dataclass(eq=False)  # no other slot is this one, whatever it holds
class Slot:
    """A captured call: its graph, its memory, the name of torch's pool that has it, and how many timed nodes it has."""

    graph: Any
    memory: Memory
    pool: tuple[int, int]
    nodes: int


class Program:
    """One plan bound to the kernels of its artifact.

    Raises:
        GpuError: something in the plan can't be executed; nothing has run then.
    """

    def __init__(self, artifact: Artifact, plan: Plan, kernels: dict[str, LoadedKernel]) -> None:
        self.plan = plan
        self._device = torch.device("cuda", torch.cuda.current_device())
        self._launches: dict[int, BoundLaunch] = {}
        self._operators: dict[int, Any] = {}
        for index, step in enumerate(plan.steps):
            if isinstance(step, LaunchStep):
                self._launches[index] = bind_launch(step, kernels[step.kernel])
            elif isinstance(step, OpStep):
                self._operators[index] = find_operator(step.op, artifact.manifest.division)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The names of the kernels that a call launches, each once."""
        return tuple(dict.fromkeys(launch.kernel.facts.name for launch in self._launches.values()))

    @property
    def only_kernel(self) -> str:
        """The kernel's name if there is only one, else ""."""
        return self.kernel_names[0] if len(self.kernel_names) == 1 else ""

    def place_inputs(self, memory: Memory) -> None:
        """Allocate inputs and constants."""
        constants = [step.out.number for step in self.plan.steps if isinstance(step, ConstantStep)]
        for number in (*self.plan.inputs, *constants):
            self._guard(memory)
            memory.tensors[number] = _place(self.plan.tensors[number], self._device)

    def fill_constants(self, memory: Memory) -> None:
        """Write the constants, as the plan spells them out."""
        for step in self.plan.steps:
            if isinstance(step, ConstantStep) and step.data:
                target = memory.tensors[step.out.number]
                flat = torch.frombuffer(bytearray(step.data), dtype=target.dtype)
                target.copy_(flat.reshape(target.shape))

    def run_checked(self, memory: Memory) -> None:
        """Run every step by itself and wait for it, so that a fault has a name."""
        for index, _ in enumerate(self.plan.steps):
            self._run_step(index, memory)
            launch = self._launches.get(index)
            code = sticky_error()
            if code:
                raise describe(code, launch.kernel.facts.name if launch else "")

    def capture(self) -> Slot:
        """Capture one call into a graph with memory of its own."""
        torch._C._cuda_clearCublasWorkspaces()  # else slots share one, in the memory of the first
        graph, memory = torch.cuda.CUDAGraph(keep_graph=True), Memory()
        try:
            with torch.cuda.graph(graph):
                self.place_inputs(memory)
                for index, _ in enumerate(self.plan.steps):
                    self._run_step(index, memory)
                self._guard(memory)
        except Exception as error:  # torch ends the capture that was spoilt, and says only that
            raise (error.__context__ if isinstance(error.__context__, GpuError) else error) from None
        graph.instantiate()
        return Slot(graph, memory, graph.pool(), count_nodes(graph.raw_cuda_graph()))

    def launch_again(self, index: int, memory: Memory) -> str:
        """Launch one step once more on memory that exists; return its kernel's name, "" if it launches none."""
        launch = self._launches.get(index)
        if launch is None:
            return ""
        number = sum(1 for other in self._launches if other < index)
        memory.kept.append(self._enqueue(launch, memory, memory.scratch[number]))
        return launch.kernel.facts.name

    def _run_step(self, index: int, memory: Memory) -> None:
        step = self.plan.steps[index]
        if isinstance(step, OpStep):
            self._run_operator(index, step, memory)
        elif isinstance(step, LaunchStep):
            launch = self._launches[index]
            sizes = launch.scratch_bytes
            scratch = (self._bytes(sizes[0], memory), self._bytes(sizes[1], memory))
            memory.scratch.append(scratch)
            memory.kept.append(self._enqueue(launch, memory, scratch))

    def _enqueue(
        self, launch: BoundLaunch, memory: Memory, scratch: tuple[torch.Tensor | None, torch.Tensor | None]
    ) -> Any:
        addresses = (
            0 if scratch[0] is None else scratch[0].data_ptr(),
            0 if scratch[1] is None else scratch[1].data_ptr(),
        )
        return launch.enqueue(memory.find_address, addresses, torch.cuda.current_stream().cuda_stream)

    def _run_operator(self, index: int, step: OpStep, memory: Memory) -> None:
        self._guard(memory)
        before = _allocated()
        made = run_operator(step, self._operators[index], self.plan.tensors, memory.tensors, self._device)
        fresh = {t.untyped_storage().data_ptr() for t in made.values() if t.numel()}
        fresh -= {t.untyped_storage().data_ptr() for t in memory.tensors.values()}
        memory.temporaries |= _allocated() - before > len(fresh)
        memory.tensors.update(made)

    def _bytes(self, size: int, memory: Memory) -> torch.Tensor | None:
        if not size:
            return None
        self._guard(memory)
        return torch.empty(size, dtype=torch.uint8, device=self._device)

    def _guard(self, memory: Memory) -> None:
        memory.kept.append(torch.empty(GUARD_BYTES, dtype=torch.uint8, device=self._device))


def _allocated() -> int:
    """Return how many blocks torch has ever handed out."""
    return int(torch.cuda.memory_stats()["allocation.all.allocated"])


def _place(meta: TensorMeta, device: torch.device) -> torch.Tensor:
    """Allocate a tensor of the plan, with its strides and offset."""
    if not meta.elements:
        return torch.empty(meta.shape, dtype=getattr(torch, meta.dtype), device=device)
    last = meta.offset + sum((size - 1) * stride for size, stride in zip(meta.shape, meta.strides, strict=True))
    flat = torch.empty((last + 1) * DTYPE_BYTES[meta.dtype], dtype=torch.uint8, device=device)
    return flat.view(getattr(torch, meta.dtype)).as_strided(meta.shape, meta.strides, meta.offset)
