"""The calls of one case: step by step, a pair on equal inputs, and for a benchmark timed ones. Every one is judged.

Inputs of a call are made after the outputs of the last one left the device. What a fault means for the case is decided
in `replaying`.
"""

from __future__ import annotations

import random
import secrets
import time
from dataclasses import replace

from harness.replay.gpu.faults import GpuError
from harness.replay.inputs import Request
from harness.replay.judgement import Judgement
from harness.replay.node.case_layout import CaseLayout
from harness.replay.node.judging import count_differing_bits, hold_the_same
from harness.replay.node.node_report import CaseReport, CaseRequest, Samples
from harness.replay.node.sampling import Sampler
from harness.replay.node.session import Session
from harness.replay.timing import FIRST_SAMPLES, samples_needed, slot_count, slot_order, summarise

PAIR = 2  # slots of a case that is not timed
CASE_CALLS = 4  # all calls of a case may take this many times what one of them may
LATE = "timeout"  # an endless kernel, or a machine that is busy


class UnstableClocksError(Exception):
    """The samples can't be ranked; a fresh runner may do better, and else the report stands."""

    def __init__(self, report: CaseReport) -> None:
        super().__init__(report.id)
        self.report = report


class CaseCalls:
    """The calls of one case: `prepare`, then `check_pair`, then for a benchmark `measure`."""

    def __init__(self, session: Session, case: CaseRequest, layout: CaseLayout) -> None:
        self._session, self._case, self._layout = session, case, layout
        self._seeds: list[int] = []
        self._witness: list[float] = []
        self._left_s = CASE_CALLS * case.timeout_s  # with the search after each, but nothing of the judge's
        self._random = random.Random(secrets.randbits(64))  # noqa: S311 - only orders slots
        tensors = session.artifact.plans[case.shape_id].tensors
        self._slots = slot_count(sum(tensor.size_bytes for tensor in tensors)) if case.timed else PAIR
        self._order = slot_order(self._slots, self._random)

    def prepare(self) -> None:
        """Run the call once step by step, then capture it, unless the last case was of this shape."""
        session, case = self._session, self._case
        if session.prepared != case.shape_id or session.slots < self._slots:
            session.prepared = ""
            session.runner.prepare(case.shape_id, self._slots)
            session.judge.send(session.judge.draw(self._request()), self._layout, session.exchange)
            session.runner.check_steps(self._layout.inputs, case.timeout_s)
            session.nodes, session.slots = session.runner.capture(), self._slots
            session.prepared = case.shape_id
        session.runner.take_spans(case.timeout_s)

    def check_pair(self) -> CaseReport:
        """Judge two calls on equal inputs in two slots."""
        judge, request = self._session.judge, self._request()
        sample = judge.expect(request, judge.draw(request))
        received = []
        for slot in self._random.sample(range(self._slots), PAIR):
            judge.send(sample.inputs, self._layout, self._session.exchange)
            self._call(slot, other_poison=True)
            received.append(judge.receive(self._layout, self._session.exchange))
            if len(received) == PAIR and hold_the_same(*received):
                break  # what was said of the first holds for the second
            judgement = judge.compare(sample, received[-1])
            if not judgement.passed:
                return self._failed(judgement)
        return CaseReport(
            self._case.id,
            "passed",
            judgement=judgement,
            seeds=tuple(self._seeds),
            calls=2,
            differing_bits=count_differing_bits(*received),
            nodes=self._session.nodes,
        )

    def measure(self, report: CaseReport) -> CaseReport:
        """Time calls, every one on fresh inputs and judged.

        Raises:
            UnstableClocksError: what was measured can't be ranked.
        """
        runner, nodes = self._session.runner, report.nodes
        runner.take_spans(self._case.timeout_s)
        self._witness, wanted = [], self._case.samples or FIRST_SAMPLES
        sampler = self._session.judge.start_sampling(self._request(), self._layout)
        self._session.captured.append(sampler.captured)
        spans: list[float] = []
        clocked = bool(runner.started.get("clock"))
        while len(self._witness) < wanted:
            judgement = self._judge_fresh_call(sampler)
            if judgement is not None:
                return self._failed(judgement)
            if len(self._witness) == wanted:
                spans += self._take_spans(wanted - len(spans), nodes) if clocked else []
                if not self._case.samples and wanted == FIRST_SAMPLES:
                    wanted = samples_needed(spans or self._witness)
        samples = Samples(tuple(spans), tuple(self._witness), nodes)
        report = replace(report, samples=samples, seeds=tuple(self._seeds), calls=report.calls + len(self._witness))
        if spans and summarise(spans, self._witness, nodes).fault:
            raise UnstableClocksError(report)
        return report

    def _judge_fresh_call(self, sampler: Sampler) -> Judgement | None:
        """Make one timed call and judge it; None if it is right."""
        judge, exchange, layout, request = self._session.judge, self._session.exchange, self._layout, self._request()
        inputs = sampler.draw(request)
        judge.send(inputs, layout, exchange)
        self._witness.append(self._call(next(self._order), other_poison=False))
        if sampler.accepts(exchange):
            return None
        return _unless_passed(judge.compare(judge.expect(request, inputs), judge.receive(layout, exchange)))

    def _take_spans(self, count: int, nodes: int) -> list[float]:
        spans = self._session.runner.take_spans(self._case.timeout_s)
        if len(spans) != count or any(records != nodes for _, records in spans):
            seen = sorted({records for _, records in spans})
            raise GpuError(
                "internal", f"the clock recorded {len(spans)} calls of {seen} nodes, expected {count} of {nodes}"
            )
        return [span for span, _ in spans]

    def _call(self, slot: int, *, other_poison: bool) -> float:
        layout, limit_s = self._layout, self._case.timeout_s
        if self._left_s < 0:
            raise GpuError(LATE, f"the calls of this case took more than {CASE_CALLS * limit_s:g} s in all")
        started = time.monotonic()
        try:
            parts = layout.inputs, layout.outputs, layout.after
            return self._session.runner.call(slot, *parts, limit_s, other_poison=other_poison)
        finally:
            self._left_s -= time.monotonic() - started

    def _request(self) -> Request:
        """Return a sample to make, with a seed that exists from now on."""
        self._seeds.append(secrets.randbits(63))
        return Request(tuple(sorted(self._case.shape.items())), self._case.distribution, self._seeds[-1])

    def _failed(self, judgement: Judgement) -> CaseReport:
        return CaseReport(
            self._case.id,
            "failed",
            str(judgement.reason),
            judgement.message,
            judgement=judgement,
            seeds=tuple(self._seeds[-1:]),
            calls=len(self._seeds),
        )


def _unless_passed(judgement: Judgement) -> Judgement | None:
    return None if judgement.passed else judgement
