"""Every case has its second try. Stand-ins make the calls, since a call needs a GPU; the order of things is real."""

from __future__ import annotations

import gc
import random
import weakref
from collections import Counter
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from harness.replay.gpu.faults import GpuError
from harness.replay.inputs import Received
from harness.replay.node import case_calls, replaying, session
from harness.replay.node.node_report import CaseReport, CaseRequest, NodeRequest
from harness.replay.node.turn import Turn
from harness.replay.timing import FIRST_SAMPLES, MOST_SLOTS, slot_order

STEADY_US, WILD_US = 10.0, 30.0  # every fourth call in a slot of a wild runner does others' work


class Runner:
    """Each one started takes the next behaviour: shape to "fault", "overdue", "wild" or "placed", else steady."""

    behaviours: list[dict[str, str]]
    level, why_lower, shared, started = "none", (), (0, 0), {"clock": True}

    def __init__(self, *_: Any) -> None:
        self._behaviour, self._how, self._spans = self.behaviours.pop(0), "", list[float]()
        self._calls: Counter[int] = Counter()  # by slot

    def wait_until_started(self) -> None:
        pass

    def prepare(self, shape_id: str, *_: Any) -> None:
        self._how = self._behaviour.get(shape_id, "steady")

    def capture(self) -> int:
        return 1

    def check_steps(self, *_: Any) -> None:
        if self._how == "fault":
            raise GpuError("internal", "the runner ended")
        if self._how == "no memory":
            raise GpuError("out_of_memory", "the GPU's memory does not hold what the call allocates")
        if self._how == "overdue":
            raise GpuError("timeout", "the call did not end within 9 s")

    def call(self, slot: int, *_: Any, **__: Any) -> float:
        usual_us = STEADY_US + slot / 10 if self._how == "placed" else STEADY_US
        self._spans.append(WILD_US if self._how == "wild" and self._calls[slot] % 4 == 0 else usual_us)
        self._calls[slot] += 1
        return self._spans[-1] + 2

    def take_spans(self, _: float) -> list[tuple[float, int]]:
        taken, self._spans = self._spans, []
        return [(span, 1) for span in taken]

    def close(self) -> None:
        pass


class Judge:
    """Whatever it is shown is right."""

    problem = None

    def check_plan(self, *_: Any) -> None:
        return None

    draw = send = let_go = check_plan

    def expect(self, *_: Any) -> Any:
        return SimpleNamespace(inputs=())

    def receive(self, *_: Any, **__: Any) -> Received:
        return Received((), {})

    def start_sampling(self, *_: Any) -> Any:
        return SimpleNamespace(draw=lambda *_: (), accepts=lambda *_: True, captured=True)

    def compare(self, *_: Any) -> Any:
        return SimpleNamespace(passed=True)


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(
        *behaviours: dict[str, str], samples: int = 40, shared: bool = False, shapes: str = "ab"
    ) -> tuple[list[CaseReport], int]:
        monkeypatch.setattr(Runner, "behaviours", list(behaviours), raising=False)
        monkeypatch.setattr(session, "RunnerProcess", Runner)
        plans = dict.fromkeys("ab", SimpleNamespace(tensors=()))
        monkeypatch.setattr(replaying, "load_artifact", lambda _: SimpleNamespace(plans=plans))
        layout = SimpleNamespace(inputs=[], outputs=[], after=[], size=0)
        monkeypatch.setattr(replaying, "lay_out_case", lambda *_: layout)
        cases = tuple(
            CaseRequest(f"case-{s}", s, {"n": 1}, "normal", timed=True, timeout_s=9.0, samples=samples) for s in shapes
        )
        judge: Any = Judge()
        memory: Any = SimpleNamespace(offer=lambda _: None, shared_with=lambda _: None)
        runner: Any = Runner()
        reports, about = replaying.replay(
            NodeRequest(cases),
            Path("artifact"),
            judge,
            memory,
            runner,
            ["node"],
            lambda _: None,
            Turn(None, lambda: None, lambda: None, shared=shared),
        )
        return reports, about["runners"]

    return run


def test_what_a_fault_met_is_gone_with_it(replay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge's graphs, for one, which must not outlive the context that they are of."""

    class Sampler(SimpleNamespace):
        pass

    def start_sampling(*_: Any) -> Sampler:
        sampler = Sampler(draw=lambda *_: (), accepts=lambda *_: True, captured=True)
        seen.append(weakref.ref(sampler))
        return sampler

    call = Runner.call

    def store_elsewhere(runner: Runner, *arguments: Any, other_poison: bool) -> float:
        if not other_poison:
            raise GpuError("out_of_bounds", "scale wrote to memory that belongs to no tensor of its launch")
        return call(runner, *arguments)

    seen: list[weakref.ref[Sampler]] = []
    monkeypatch.setattr(Judge, "start_sampling", start_sampling)
    monkeypatch.setattr(Runner, "call", store_elsewhere)
    gc.collect()
    gc.disable()
    try:
        reports, _ = replay({})
        assert [(report.status, report.reason) for report in reports][0] == ("fault", "out_of_bounds")
        assert [found() for found in seen] == [None]
    finally:
        gc.enable()


def test_a_judge_without_memory_is_the_machines_fault(replay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(Judge, "draw", draw)
    reports, runners = replay({}, {})
    told = "the GPU's memory does not hold what the judge needs beside the submission"
    assert (reports[0].status, reports[0].reason, reports[0].message) == ("fault", "machine", told)
    assert runners == 2


def test_the_second_of_a_pair_is_judged_unless_it_left_the_same(replay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(_: Judge, __: Any, received: Received) -> Any:
        judged.append(float(received.outputs[0]))
        return SimpleNamespace(passed=judged[-1] == 1, reason="wrong_values", message="wrong", outputs=())

    for second, wanted, status in ((1.0, [1.0], "passed"), (2.0, [1.0, 2.0], "failed")):
        judged: list[float] = []
        left = iter([1.0, second])
        monkeypatch.setattr(Judge, "receive", lambda *_, left=left: Received((torch.tensor(next(left)),), {}))
        monkeypatch.setattr(Judge, "compare", compare)
        reports, _ = replay({}, {}, shapes="a")
        assert (judged, reports[0].status) == (wanted, status)


def is_wild(report: CaseReport) -> bool:
    assert report.samples is not None
    return WILD_US in report.samples.spans_us


def test_steady_clocks_need_one_runner(replay: Any) -> None:
    reports, runners = replay({})
    assert ([report.status for report in reports], runners) == (["passed", "passed"], 1)


def test_every_slot_is_called_equally_often_in_no_order_that_can_be_foreseen() -> None:
    first, second = (list(islice(slot_order(MOST_SLOTS, random.Random(seed)), FIRST_SAMPLES)) for seed in (1, 2))
    assert Counter(first) == Counter(second) == dict.fromkeys(range(MOST_SLOTS), FIRST_SAMPLES // MOST_SLOTS)
    assert first != second


def test_timed_calls_go_through_all_slots(replay: Any) -> None:
    """A call's time tells its slot here."""
    reports, _ = replay({"a": "placed", "b": "placed"}, samples=FIRST_SAMPLES)
    spans = [report.samples.spans_us for report in reports if report.samples is not None]
    assert [Counter(found) for found in spans] == [
        {STEADY_US + n / 10: FIRST_SAMPLES // MOST_SLOTS for n in range(MOST_SLOTS)}
    ] * 2
    assert spans[0] != spans[1]


def test_unstable_clocks_are_tried_again_though_another_case_has_had_its_second_try(replay: Any) -> None:
    reports, runners = replay({"a": "fault"}, {"b": "wild"}, {})
    assert ([report.status for report in reports], runners) == (["passed", "passed"], 3)
    assert not is_wild(reports[1])


def test_clocks_that_stay_unstable_leave_their_samples(replay: Any) -> None:
    reports, runners = replay({"a": "wild"}, {"a": "wild"})
    assert ([report.status for report in reports], runners) == (["passed", "passed"], 2)
    assert is_wild(reports[0])
    assert not is_wild(reports[1])


def test_a_fault_of_ours_that_stays_is_told(replay: Any) -> None:
    reports, runners = replay({"a": "wild"}, {"a": "fault"})
    assert [(report.status, report.reason) for report in reports] == [
        ("fault", "internal"),
        ("not_run", "after_failure"),
    ]
    assert (reports[0].samples, runners) == (None, 2)


def test_a_call_that_was_late_on_a_busy_machine_is_nobodys_fault(replay: Any) -> None:
    reports, runners = replay({"a": "overdue"}, {})
    assert ([report.status for report in reports], runners) == (["passed", "passed"], 2)


def test_memory_that_others_may_have_had_is_asked_for_again_alone(replay: Any) -> None:
    reports, runners = replay({"a": "no memory"}, {}, shared=True)
    assert ([report.status for report in reports], runners) == (["passed", "passed"], 2)


def test_a_call_without_enough_memory_on_a_gpu_of_its_own_is_the_submissions(replay: Any) -> None:
    for behaviours, shared in (([{"a": "no memory"}], False), ([{"a": "no memory"}] * 2, True)):
        reports, runners = replay(*behaviours, shared=shared)
        assert [(report.status, report.reason) for report in reports] == [
            ("fault", "out_of_memory"),
            ("not_run", "after_failure"),
        ]
        assert runners == len(behaviours)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Seconds that pass when the runner says so, so that a busy machine is not waited for."""
    now = SimpleNamespace(s=0.0)
    for module in (case_calls, replaying):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now.s))
    return now


def test_a_machine_that_takes_long_is_not_the_submissions_fault(
    replay: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_steps(*_: Any) -> None:
        clock.s += 1000.0

    monkeypatch.setattr(Runner, "check_steps", check_steps)
    assert [report.status for report in replay({})[0]] == ["passed", "passed"]


def test_calls_that_are_slow_together_are_ended_together(
    replay: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Runner.call

    def slow(self: Runner, *arguments: Any, **named: Any) -> float:
        clock.s += 5.0
        return call(self, *arguments, **named)

    monkeypatch.setattr(Runner, "call", slow)
    reports, runners = replay({}, {})
    assert (reports[0].reason, runners) == ("timeout", 2)
    assert reports[0].message == "the calls of this case took more than 36 s in all"


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        (lambda spans: spans[1:], "the clock recorded 39 calls of [1] nodes, expected 40 of 1"),
        (lambda spans: [*spans, *spans[:2]], "the clock recorded 42 calls of [1] nodes, expected 40 of 1"),
        (lambda spans: [(spans[0][0], 3), *spans[1:]], "the clock recorded 40 calls of [1, 3] nodes, expected 40 of 1"),
    ],
)
def test_a_clock_that_loses_calls_is_our_fault(
    replay: Any, monkeypatch: pytest.MonkeyPatch, lost: Any, told: str
) -> None:
    take_spans = Runner.take_spans

    def take(self: Runner, limit_s: float) -> list[tuple[float, int]]:
        spans = take_spans(self, limit_s)
        return lost(spans) if len(spans) == 40 else spans

    monkeypatch.setattr(Runner, "take_spans", take)
    reports, runners = replay({}, {})
    assert (reports[0].status, reports[0].reason, reports[0].message) == ("fault", "internal", told)
    assert runners == 2


def test_a_call_that_is_late_once_after_another_fault_may_be_the_machines(replay: Any) -> None:
    reports, runners = replay({"a": "fault"}, {"a": "overdue"})
    assert (reports[0].reason, reports[0].message, runners) == (
        "machine",
        "the call did not end within 9 s Or a busy machine: the try before failed for another reason.",
        2,
    )


def test_an_artifact_without_the_plan_of_a_case_is_our_fault(replay: Any) -> None:
    reports, _ = replay({}, {}, shapes="zb")
    assert (reports[0].status, reports[0].reason) == ("fault", "internal")
    assert reports[0].message == "the artifact has no plan for z"


def test_a_call_that_never_ends_is_the_submissions(replay: Any) -> None:
    reports, runners = replay({"a": "overdue"}, {"a": "overdue"})
    assert [(report.status, report.reason) for report in reports] == [
        ("fault", "timeout"),
        ("not_run", "after_failure"),
    ]
    assert runners == 2
