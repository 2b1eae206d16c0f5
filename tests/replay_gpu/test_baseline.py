"""What the baselines compute is what the problem asks for, in float32, and how its time comes from a clock's records.

How fast they are is a GPU's business (test_gpu.py).
"""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from harness.case import load_cases
from harness.replay.inputs import Request, make_sample
from harness.replay.node.baseline import SAMPLES, compiled_call, eager_call, recorded_call, time_slots
from harness.replay.reference import load_reference
from harness.spec import load_problem

ROOT = Path(__file__).parents[2]
PROBLEMS = ("causal_conv1d", "fp8_quant", "chunk_fwd_h", "chunk_fwd_o", "recompute_w_u")


def smallest(name):
    """A problem's reference, and a sample of its smallest test case."""
    reference = load_reference(load_problem(ROOT / "problems" / name))
    case = next(case for case in load_cases(reference.problem) if case.role == "test")
    request = Request(tuple(sorted(case.sizes.items())), case.distribution, 7)
    sample = make_sample(reference, request)
    inputs = tuple(t for t, spec in zip(sample.inputs, reference.problem.inputs, strict=True) if not spec.buffer)
    return reference, case, sample, inputs


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_reference_in_float32_is_near_the_one_in_float64(name):
    reference, case, sample, inputs = smallest(name)
    eager = eager_call(reference, case.sizes)
    recorded = recorded_call(eager, inputs)
    for call in (eager, recorded):
        outputs = call(*inputs)
        for spec, got, expected in zip(reference.problem.outputs, outputs, sample.expected, strict=True):
            assert got.dtype is torch.float32
            tolerance = reference.problem.tolerance_of(spec.name)
            error = (got.double() - expected).abs()
            # Quantised values may fall on the other side of an edge of a step.
            wrong = error > 10 * (tolerance.atol + tolerance.rtol * expected.abs())
            assert wrong.float().mean() < 0.01, spec.name


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler on a CPU")
def test_torch_compiles_it():
    reference, case, sample, inputs = smallest("chunk_fwd_h")
    outputs = compiled_call(eager_call(reference, case.sizes), inputs)(*inputs)
    for got, expected in zip(outputs, sample.expected, strict=True):
        assert torch.allclose(got.double(), expected, rtol=1e-3, atol=1e-3)


SLOTS = 8


class Stopwatch:
    """A clock on which each run takes as long as the list says; `done` is what happened, in order."""

    def __init__(self, spans_us):
        self.done = []
        self._spans_us, self._records = iter(spans_us), [SimpleNamespace(span_us=1e6)]  # of what ran before

    def __enter__(self):
        self.done.append("on")

    def __exit__(self, *_):
        self.done.append("off")
        self._records += [SimpleNamespace(span_us=span_us) for span_us in next(self._spans_us)]

    def take(self):
        taken, self._records = self._records, []
        return taken


def time_by(clock):
    return time_slots(
        SLOTS, lambda slot: clock.done.append(f"fresh {slot}"), lambda slot: clock.done.append(slot), clock
    )


def test_slots_are_timed_equally_often_in_no_fixed_order_each_on_fresh_inputs():
    clocks = [Stopwatch([[1.0]] * SAMPLES) for _ in range(2)]
    for clock in clocks:
        assert time_by(clock) == 1.0
        order = [step for step in clock.done if isinstance(step, int)]
        rounds = [order[at : at + SLOTS] for at in range(0, SAMPLES, SLOTS)]
        assert [sorted(one) for one in rounds] == [list(range(SLOTS))] * (SAMPLES // SLOTS)
        assert clock.done == [step for slot in order for step in (f"fresh {slot}", "on", slot, "off")]
    assert clocks[0].done != clocks[1].done


def test_a_time_is_that_of_the_runs_as_a_submissions_is():
    spans = [[10.0 if run % 16 < 12 else 15.0] for run in range(SAMPLES)]
    assert time_by(Stopwatch(spans)) == 10.0


@pytest.mark.parametrize(("last", "count"), [([], SAMPLES - 1), ([1.0, 1.0], SAMPLES + 1)])
def test_a_clock_that_missed_a_run_or_has_one_too_many_gives_no_time(last, count):
    with pytest.raises(RuntimeError, match=f"^the clock recorded {count} of {SAMPLES} calls$"):
        time_by(Stopwatch([[1.0]] * (SAMPLES - 1) + [last]))
