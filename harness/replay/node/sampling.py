"""Drawing and judging the timed calls of one case, many times over.

A reference is many small operators, and launching them one by one takes longer than computing them. So what does not
change from call to call is captured into two CUDA graphs: one that draws the inputs from a seed, one that computes what
is expected and compares. The first replay is held against the operators themselves, bit by bit; a reference that can't
be captured (it reads a number back, say) is run as it is. All of this is the judge's own memory.
"""

from __future__ import annotations

import torch

from harness.replay.gpu.exchange import Exchange
from harness.replay.gpu.layout import Part
from harness.replay.inputs import (
    GENERATORS,
    Received,
    Request,
    Sample,
    add_expected,
    derive_seed,
    draw_inputs,
    draw_with,
)
from harness.replay.node.acceptance import accepts
from harness.replay.node.case_layout import CaseLayout
from harness.replay.reference import Reference

Tensors = tuple[torch.Tensor, ...]


class Sampler:
    """Inputs and quick answers for the calls of one case.

    Args:
        reference: of the problem.
        request: one sample of the case; its seed is used for the comparison of graphs and operators.
        layout: where the tensors lie in the exchange.

    Attributes:
        captured: graphs are replayed; else operators run.
    """

    def __init__(self, reference: Reference, request: Request, layout: CaseLayout) -> None:
        self._reference, self._layout = reference, layout
        self._graphs = _capture(reference, request, layout)
        self.captured = self._graphs is not None
        self._drawn: tuple[Request, Tensors] | None = None

    def draw(self, request: Request) -> Tensors:
        """Make the inputs of a call. The next call's take their place."""
        if self._graphs is not None:
            return self._graphs.draw(request)
        self._drawn = request, draw_inputs(self._reference, request, "cuda")
        return self._drawn[1]

    def accepts(self, exchange: Exchange) -> bool:
        """Tell quickly whether a call was right; a "no" is not a judgement: ask the judge then.

        Args:
            exchange: where the call on what was drawn last left its outputs, and its inputs.
        """
        if self._graphs is not None:
            self._graphs.take(exchange)
            return self._graphs.judge()
        assert self._drawn is not None
        outputs = tuple(exchange.take(part) for part in self._layout.outputs)
        received = Received(outputs, {number: exchange.take(part) for number, part in _sent(self._layout).items()})
        torch.cuda.synchronize()
        return bool(accepts(self._reference.problem, add_expected(self._reference, *self._drawn), received))


class _Graphs:
    """The two graphs of a case, and the tensors that they read and write."""

    def __init__(self, reference: Reference, request: Request, layout: CaseLayout) -> None:
        self._problem = reference.problem.name
        self._generators = {purpose: torch.Generator("cuda") for purpose in GENERATORS}
        self._drawing = torch.cuda.CUDAGraph()
        for generator in self._generators.values():
            self._drawing.register_generator_state(generator)
        with torch.cuda.graph(self._drawing):
            self.inputs = draw_with(reference, request, self._generators)
        sent = _sent(layout)
        received = Received(tuple(map(_empty, layout.outputs)), {number: _empty(part) for number, part in sent.items()})
        self._taken = [*zip(layout.outputs, received.outputs, strict=True)]
        self._taken += zip(sent.values(), received.inputs.values(), strict=True)
        self._judging = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._judging):
            made = tuple(self.inputs[number] for number in sent)
            sample = Sample(request, self.inputs, tuple(reference.reference(made, request.sizes)))
            self._answer = accepts(reference.problem, sample, received)
            self.expected = sample.expected

    def draw(self, request: Request) -> Tensors:
        for purpose, generator in self._generators.items():
            generator.manual_seed(derive_seed(self._problem, request, purpose))
        self._drawing.replay()
        return self.inputs

    def take(self, exchange: Exchange) -> None:
        for part, room in self._taken:
            room.copy_(exchange.tensor(part), non_blocking=True)

    def judge(self) -> bool:
        self._judging.replay()
        return bool(self._answer)


def _empty(part: Part) -> torch.Tensor:
    return torch.empty(part.shape, dtype=getattr(torch, part.dtype), device="cuda")


def _sent(layout: CaseLayout) -> dict[int, Part]:
    """Return where the inputs come back that were sent, by their number: all but buffers."""
    return {number: part for number, part in enumerate(layout.after) if part is not None}


def _capture(reference: Reference, request: Request, layout: CaseLayout) -> _Graphs | None:
    """Return the graphs of a case, or None where they can't be had or compute something else."""
    stream = torch.cuda.current_stream()
    try:
        graphs = _Graphs(reference, request, layout)
        return graphs if _computes_the_same(graphs, reference, request) else None
    except Exception:  # whatever an organiser's reference does that no graph can hold
        torch.cuda.set_stream(stream)  # a capture that failed may have left its own behind
        torch.cuda.synchronize()
        return None


def _computes_the_same(graphs: _Graphs, reference: Reference, request: Request) -> bool:
    sample = add_expected(reference, request, draw_inputs(reference, request, "cuda"))
    drawn = graphs.draw(request)
    graphs.judge()
    pairs = [*zip(sample.inputs, drawn, strict=True), *zip(sample.expected, graphs.expected, strict=True)]
    return all(_same_bits(left, right) for left, right in pairs)


def _same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return torch.equal(*(tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (left, right)))
