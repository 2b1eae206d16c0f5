"""Executes one plan: its steps in order, on one set of inputs, in full or by sampled programs.

In a sampled replay a launch runs a few of its programs, and what they stored is noted. If a later step uses
what the launch wrote, or if its programs depend on one another, all of its programs run after all: only what
nobody reads again may stay incomplete.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.plan import ConstantStep, LaunchStep, OpStep, Plan, used_tensors
from harness.replay.cpu import host
from harness.replay.cpu.arguments import bind
from harness.replay.cpu.faults import Fault, TimeLimit, Unsupported
from harness.replay.cpu.kernels import Kernel
from harness.replay.cpu.programs import Launch, choose_programs, run_programs
from harness.replay.cpu.shared import StoredBytes, share_storages

FindKernel = Callable[[str, str], Kernel]


@dataclass(frozen=True)
class Settings:
    """How to execute a plan.

    Attributes:
        workers: processes that may share a launch.
        seed: of the order of programs.
        time_limit_s: for the whole plan.
        sample: programs per launch; None for all.
        sample_seed: of the choice of programs.
    """

    workers: int
    seed: int
    time_limit_s: float
    sample: int | None = None
    sample_seed: int = 0


@dataclass
class Execution:
    """One execution of a plan.

    Attributes:
        plan: what to execute.
        find_kernel: returns a kernel by its source's hash and its name.
        settings: how.
        tensors: the plan's tensors that exist, by number; the inputs to begin with.
        programs_run: programs run so far.
        programs_total: programs of all launches so far.
    """

    plan: Plan
    find_kernel: FindKernel
    settings: Settings
    tensors: dict[int, torch.Tensor]
    programs_run: int = 0
    programs_total: int = 0
    _partial: StoredBytes = field(default_factory=StoredBytes)
    _incomplete: set[int] = field(default_factory=set)
    _shared: set[int] = field(default_factory=set)

    def run(self) -> None:
        """Execute every step.

        Raises:
            Fault: of the kind that ended the execution; its `where` names the step.
        """
        deadline = time.monotonic() + self.settings.time_limit_s
        for index, step in enumerate(self.plan.steps):
            try:
                self._run_step(index, step, deadline)
            except Fault as fault:
                fault.where.update(step=index, submission_line=step.line)
                self.programs_run += fault.where.get("programs_run", 0) if isinstance(fault, TimeLimit) else 0
                raise
            except MemoryError:
                raise Unsupported("the host program needs more memory than CPU replay has", {"step": index}) from None

    def outputs(self) -> list[torch.Tensor]:
        """Return the returned tensors."""
        return [self.tensors[number] for number in self.plan.outputs]

    def inputs(self) -> list[torch.Tensor]:
        """Return the inputs as they are now."""
        return [self.tensors[number] for number in self.plan.inputs]

    def stored(self) -> list[torch.Tensor]:
        """Return for each output which of its elements are what a complete execution would give."""
        masks = []
        for output in self.outputs():
            partial = output.numel() and output.untyped_storage().data_ptr() in self._incomplete
            masks.append(self._partial.mask(output) if partial else torch.ones(output.shape, dtype=torch.bool))
        return masks

    def _run_step(self, index: int, step: OpStep | ConstantStep | LaunchStep, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise TimeLimit("")
        if isinstance(step, OpStep):
            host.run_op(step, self.plan, self.tensors)
        elif isinstance(step, ConstantStep):
            host.run_constant(step, self.plan, self.tensors)
        else:
            self._run_launch(index, step, deadline)

    def _run_launch(self, index: int, step: LaunchStep, deadline: float) -> None:
        share_storages(self.tensors, self._shared)
        kernel = self.find_kernel(step.source, step.function)
        values, regions = bind(kernel, step.args, self.tensors)
        launch = Launch(kernel, values, regions, step.grid)
        self.programs_total += launch.total
        sample = None if kernel.traits.atomics or kernel.traits.waits else self.settings.sample
        if sample is None or sample >= launch.total:
            self._run_all(index, launch, deadline)
            return
        numbers = choose_programs(launch.total, sample, (self.settings.sample_seed, index))
        self._partial.watch({region.start: region.end - region.start for region in regions})
        run_programs(launch, numbers, self.settings.workers, deadline, self._partial)
        written = self._partial.touched()
        if self._is_used_later(index, written):
            self._run_all(index, launch, deadline)
            return
        self._incomplete |= written
        self.programs_run += len(numbers)

    def _run_all(self, index: int, launch: Launch, deadline: float) -> None:
        numbers = choose_programs(launch.total, None, (self.settings.seed, index))
        run_programs(launch, numbers, self.settings.workers, deadline)
        self.programs_run += launch.total

    def _is_used_later(self, index: int, storages: set[int]) -> bool:
        """Tell whether a step after `index` reads or writes one of the storages."""
        affected = {n for n, t in self.tensors.items() if t.numel() and t.untyped_storage().data_ptr() in storages}
        for step in self.plan.steps[index + 1 :]:
            if not affected.intersection(used_tensors(step)):
                continue
            if not isinstance(step, OpStep) or not host.is_view(step):
                return True
            affected |= {out.number for out in step.outs if out is not None}
        return False


def describe(tensor: torch.Tensor, inputs: list[torch.Tensor]) -> dict[str, Any]:
    """Return what a judge wants to know of an output beside its values."""
    storage = tensor.untyped_storage().data_ptr()
    shares = [i for i, other in enumerate(inputs) if other.untyped_storage().data_ptr() == storage and other.numel()]
    return {
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "input": shares[0] if shares else None,
    }
