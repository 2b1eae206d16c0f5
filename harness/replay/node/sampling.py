"""Drawing and judging the timed calls of one case, many times over.

A reference is many small operators, and launching them one by one takes longer than computing them. So what does not
change from call to call is captured into two CUDA graphs: one that draws the inputs from a seed, one that computes what
is expected and compares. The first replay is held against the operators themselves, bit by bit; a reference that can't
be captured (it reads a number back, say) is run as it is. All of this is the judge's own memory.
"""

from __future__ import annotations

import secrets
from typing import Any

import torch

from harness.replay.gpu.exchange import Exchange
from harness.replay.gpu.fingerprint import fingerprints, weighted_sums
from harness.replay.inputs import GENERATORS, Request, Sample, add_expected, derive_seed, draw_inputs, draw_with
from harness.replay.node.acceptance import within_tolerance
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

    def draw(self, request: Request) -> Tensors:
        """Make the inputs of a call. The next call's take their place."""
        if self._graphs is None:
            return draw_inputs(self._reference, request, "cuda")
        return self._graphs.draw(request)

    def accepts(self, request: Request, inputs: Tensors, exchange: Exchange, after: list[int], key: int) -> bool:
        """Tell quickly whether a call was right; a "no" is not a judgement: ask the judge then.

        Args:
            request: what was drawn last.
            inputs: what `draw` made of it.
            exchange: where the outputs lie.
            after: fingerprints of the inputs after the call, 0 for a buffer.
            key: of the fingerprints.
        """
        parts = self._layout.outputs
        if self._graphs is not None:
            for target, part in zip(self._graphs.outputs, parts, strict=True):
                target.copy_(exchange.tensor(part), non_blocking=True)
            return self._graphs.accepts(after, key)
        outputs = tuple(exchange.take(part) for part in parts)
        torch.cuda.synchronize()
        declared = _declared(self._reference, inputs)
        if fingerprints([inputs[number] for number in declared], key) != [after[number] for number in declared]:
            return False
        sample = add_expected(self._reference, request, inputs)
        return bool(within_tolerance(self._reference.problem, sample, outputs))


class _Graphs:
    """The two graphs of a case, and the tensors that they read and write."""

    def __init__(self, reference: Reference, request: Request, layout: CaseLayout) -> None:
        self._problem = reference.problem.name
        self._generators = {purpose: torch.Generator("cuda") for purpose in GENERATORS}
        self._drawing = self._new_graph(self._generators.values())
        with torch.cuda.graph(self._drawing):
            self.inputs = draw_with(reference, request, self._generators)
        self._declared = _declared(reference, self.inputs)
        self.outputs = [torch.empty(p.shape, dtype=getattr(torch, p.dtype), device="cuda") for p in layout.outputs]
        self._keyed = torch.Generator("cuda")
        self._judging = self._new_graph([self._keyed])
        with torch.cuda.graph(self._judging):
            made = tuple(self.inputs[number] for number in self._declared)
            sample = Sample(request, self.inputs, tuple(reference.reference(made, request.sizes)))
            right = within_tolerance(reference.problem, sample, tuple(self.outputs))
            self._answer = torch.cat([right.to(torch.int64).view(1), weighted_sums(made, self._keyed)])
            self.expected = sample.expected

    def draw(self, request: Request) -> Tensors:
        for purpose, generator in self._generators.items():
            generator.manual_seed(derive_seed(self._problem, request, purpose))
        self._drawing.replay()
        return self.inputs

    def accepts(self, after: list[int], key: int) -> bool:
        self._keyed.manual_seed(key)
        self._judging.replay()
        right, *sums = self._answer.tolist()
        return bool(right) and sums == [after[number] for number in self._declared]

    @staticmethod
    def _new_graph(generators: Any) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        for generator in generators:
            graph.register_generator_state(generator)
        return graph


def _declared(reference: Reference, inputs: Tensors) -> list[int]:
    """Return which inputs are not buffers, and so must not be written."""
    pairs = zip(reference.problem.inputs, inputs, strict=True)
    return [number for number, (spec, _) in enumerate(pairs) if not spec.buffer]


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
    graphs.accepts([0] * len(drawn), secrets.randbits(63))
    pairs = [*zip(sample.inputs, drawn, strict=True), *zip(sample.expected, graphs.expected, strict=True)]
    return all(_same_bits(left, right) for left, right in pairs)


def _same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return torch.equal(*(tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (left, right)))
