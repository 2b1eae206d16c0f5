"""The tolerances: honest float32 and tf32 kernels pass everywhere, bfloat16 operands do not."""

import pytest
import torch

from harness.qualify.arithmetic import BFLOAT16, FLOAT32, TF32, TF32_ROUNDED
from tests.problems.specification import (
    CHUNKED,
    NAMES,
    Case,
    cases_tested,
    cases_timed,
    distances,
    draw,
    elements,
    expected,
    kernels,
    problem,
)

ROOM = 0.75  # what an honest precision may use up of a tolerance, so that no seed decides


def worst(name, case, arithmetic, seeds=(0, 1)):
    """The largest distance of any output over a few seeds, in units of the tolerance."""
    found = 0.0
    for seed in seeds:
        inputs = draw(name, case, seed)
        got = kernels(name).compute(inputs, case.shape, arithmetic)
        found = max(found, *(d.worst for d in distances(name, got, expected(name, case, inputs)).values()))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_float32_passes_with_much_room(name):
    for case in cases_tested(name):
        assert worst(name, case, FLOAT32) < 0.01, case


@pytest.mark.parametrize("arithmetic", [TF32, TF32_ROUNDED], ids=["cut", "rounded"])
@pytest.mark.parametrize("name", CHUNKED)
def test_tf32_passes_every_case(name, arithmetic):
    for case in cases_tested(name):
        assert worst(name, case, arithmetic) < ROOM, case


@pytest.mark.parametrize("name", CHUNKED)
def test_tf32_passes_the_largest_benchmark(name):
    *_, largest = cases_timed(name)
    assert worst(name, largest, TF32, seeds=(0,)) < ROOM


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_fails_under_the_distribution_that_timing_uses(name):
    """A faster kernel must not be a less precise one, so this matters in every timed shape with any product in it."""
    for case in cases_timed(name):
        if name == "chunk_fwd_h" and case.shape["T"] == 64:
            continue  # one chunk: h is zero and v_new is u, nothing is multiplied
        if elements(name, case) > 8_000_000:
            continue  # the same distribution as in the smaller shapes, only slower to check
        assert worst(name, case, BFLOAT16, seeds=(0,)) > 1.25, case


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_fails_in_nearly_every_test(name):
    cases = [case for case in cases_tested(name) if case.shape.get("T") != 64]
    failed = [case for case in cases if worst(name, case, BFLOAT16, seeds=(0,)) > 1]
    assert len(failed) >= 0.8 * len(cases), f"passed: {[str(c) for c in cases if c not in failed]}"


def test_tf32_has_no_place_in_the_convolution():
    """It has no matrix product to gain by it, and the elementwise tolerance is float32's."""
    case = Case({"B": 2, "D": 128, "S": 128, "W": 4}, "normal")
    assert worst("causal_conv1d", case, TF32) > 1


@pytest.mark.parametrize("name", NAMES)
def test_zeros_fail_every_case(name):
    for case in cases_tested(name):
        inputs = draw(name, case)
        reference = expected(name, case, inputs)
        zeros = tuple(torch.zeros_like(out) for out in reference)
        found = distances(name, zeros, reference)
        assert max(d.worst for d in found.values()) > 1, case


def test_a_scale_without_its_least_value_fails():
    """Zero groups make NaN of it, tiny groups a scale that is too small by any factor."""
    case = Case({"tokens": 4, "hidden": 512, "group": 128}, "below_eps")
    (x,) = draw("fp8_quant", case)
    scale = x.unflatten(1, (-1, 128)).abs().amax(2) / 448
    got = ((x.unflatten(1, (-1, 128)) / scale[..., None]).flatten(1), scale)
    found = distances("fp8_quant", got, expected("fp8_quant", case, (x,)))
    assert found["x_q"].worst > 1
    assert found["x_s"].elementwise > 1


@pytest.mark.parametrize("name", NAMES)
def test_every_output_has_a_relative_cap(name):
    assert all(problem(name).tolerance_of(out.name).relative_l2 for out in problem(name).outputs)
