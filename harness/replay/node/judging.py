"""The judge on a GPU machine: samples, expected values and comparison, all in float64 on the GPU.

Its CUDA context is its own; the runner's kernels can't reach it. What a runner left in the exchange is copied to this
context before it is looked at.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable

import torch

from harness.plan import Plan, TensorMeta, row_major
from harness.replay.form import Form, check_form
from harness.replay.gpu.exchange import Exchange
from harness.replay.gpu.faults import GpuError
from harness.replay.inputs import Received, Request, Sample, add_expected, draw_inputs
from harness.replay.judgement import Judgement
from harness.replay.node.acceptance import accepts
from harness.replay.node.case_layout import CaseLayout
from harness.replay.node.node_report import CaseRequest
from harness.replay.node.problem_document import ProblemDocument
from harness.replay.node.sampling import Sampler
from harness.replay.poison import same_bits
from harness.replay.reference import load_reference
from harness.replay.ruling import rule


class GpuJudge:
    """Answers for one problem."""

    def __init__(self, problem: ProblemDocument) -> None:
        self.problem = problem
        self.reference = load_reference(problem)

    def warm_up(self, cases: Iterable[CaseRequest]) -> None:
        """Draw from each distribution, and judge once, so that torch has loaded all of it when the runner is ready."""
        largest_first = sorted(cases, key=lambda case: math.prod(case.shape.values()), reverse=True)
        for case in {case.distribution: case for case in largest_first}.values():
            request = Request(tuple(sorted(case.shape.items())), case.distribution, 0)
            sample = self.expect(request, self.draw(request))
        outputs = tuple(
            expected.to(getattr(torch, spec.dtype))
            for expected, spec in zip(sample.expected, self.problem.outputs, strict=True)
        )
        received = Received(outputs, {n: t for n, t in enumerate(sample.inputs) if not self.problem.inputs[n].buffer})
        accepts(self.problem, sample, received)
        self.compare(sample, received)

    def let_go(self) -> None:
        """Give the GPU back what memory nothing needs now: the graphs of a case that failed, say."""
        gc.collect()
        torch.cuda.empty_cache()

    def check_plan(self, plan: Plan, shape: dict[str, int]) -> Judgement | None:
        """Return a judgement if the plan's outputs are not of the declared form.

        Raises:
            GpuError: it takes other inputs than the problem has.
        """
        sizes = self.problem.input_sizes(shape)
        wanted = [TensorMeta(s, row_major(s), spec.dtype) for s, spec in zip(sizes, self.problem.inputs, strict=True)]
        if [plan.tensors[number] for number in plan.inputs] != wanted:
            raise GpuError("unsupported_kernel", "the plan takes other inputs than the problem has")
        metas = [plan.tensors[number] for number in plan.outputs]
        forms = [Form(meta.dtype, meta.shape, meta.strides) for meta in metas]
        return check_form(self.problem, shape, forms, plan.output_kind)

    def draw(self, request: Request) -> tuple[torch.Tensor, ...]:
        """Make the inputs of a call on the GPU."""
        return draw_inputs(self.reference, request, "cuda")

    def start_sampling(self, request: Request, layout: CaseLayout) -> Sampler:
        """Prepare for many calls of a case: `request` is any sample of it."""
        return Sampler(self.reference, request, layout)

    def expect(self, request: Request, inputs: tuple[torch.Tensor, ...]) -> Sample:
        """Add what the call must return."""
        return add_expected(self.reference, request, inputs)

    def send(self, inputs: tuple[torch.Tensor, ...], layout: CaseLayout, exchange: Exchange) -> None:
        """Write a call's inputs to the exchange, over whatever the last call left there."""
        exchange.wipe()
        for tensor, part in zip(inputs, layout.inputs, strict=True):
            if part is not None:
                exchange.tensor(part).copy_(tensor, non_blocking=True)
        torch.cuda.synchronize()

    def receive(self, layout: CaseLayout, exchange: Exchange) -> Received:
        """Copy what a call left in the exchange to this context: outputs, and inputs as they were after it."""
        outputs = tuple(exchange.take(part) for part in layout.outputs)
        inputs = {number: exchange.take(part) for number, part in enumerate(layout.after) if part is not None}
        torch.cuda.synchronize()
        return Received(outputs, inputs)

    def compare(self, sample: Sample, received: Received) -> Judgement:
        """Judge one call; a failure is looked at again on the CPU, where the diagnosis is at home."""
        judgement = rule(self.problem, sample, received, self.reference.not_finite)
        if judgement.passed:
            return judgement
        on_cpu = Sample(sample.request, _to_cpu(sample.inputs), _to_cpu(sample.expected))
        inputs = {number: tensor.cpu() for number, tensor in received.inputs.items()}
        return rule(self.problem, on_cpu, Received(_to_cpu(received.outputs), inputs), self.reference.not_finite)


def count_differing_bits(left: Received, right: Received) -> int:
    """Return how many output elements of two calls on equal inputs are not the same, bit by bit."""
    pairs = zip(left.outputs, right.outputs, strict=True)
    return sum(int((~same_bits(first, second)).sum()) for first, second in pairs)


def hold_the_same(left: Received, right: Received) -> bool:
    """Tell whether two calls left the same, bit by bit: outputs and inputs."""
    inputs = ((left.inputs[number], after) for number, after in right.inputs.items())
    pairs = [*zip(left.outputs, right.outputs, strict=True), *inputs]
    return all(bool(same_bits(first, second).all()) for first, second in pairs)


def _to_cpu(tensors: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.cpu() for tensor in tensors)
