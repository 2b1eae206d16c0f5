"""The judge's pure parts: comparison, places, regions, form, poison."""

from __future__ import annotations

import math

import pytest
import torch

from harness.replay.compare import BLOCK, compare_output, spread_evenly
from harness.replay.form import Form, check_form
from harness.replay.place import AxisLabel, axis_labels, describe_region, place
from harness.replay.poison import is_poison, poison, same_bits
from harness.spec import Tolerance, load_problem

from .conftest import PROBLEMS, SHAPE

ROOT = PROBLEMS.parents[2]
TOLERANCE = Tolerance(rtol=1e-3, atol=1e-3, relative_l2=1e-3)
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def compare(got, expected, tolerance=TOLERANCE, **more):
    axes = tuple(AxisLabel(f"i{dim}", size) for dim, size in enumerate(expected.shape))
    return compare_output(got, expected, tolerance, name="o", axes=axes, **more)


def test_the_tolerance_is_inclusive_and_grows_with_the_reference():
    expected = torch.tensor([0.0, 1.0, -1000.0], dtype=torch.float64)
    exact = Tolerance(rtol=0.25, atol=0.5)
    bounds = 0.5 + 0.25 * expected.abs()
    assert compare(expected + bounds, expected, exact).report.wrong_elements == 0
    over = compare(expected + bounds * 1.01, expected, exact).report
    assert over.wrong_elements == 3
    assert math.isclose(over.worst_over_tolerance, 1.01)
    assert math.isclose(over.max_abs, 250.5 * 1.01)
    assert math.isclose(over.max_rel, 0.75 * 1.01)


def test_blocks_add_up_to_the_whole():
    generator = torch.Generator().manual_seed(0)
    expected = torch.randn(3, BLOCK // 2 + 17, dtype=torch.float64, generator=generator)
    got = expected + 1e-2 * torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    comparison, error = compare(got, expected), (got - expected).abs()
    bound = 1e-3 + 1e-3 * expected.abs()
    assert torch.equal(comparison.wrong, error > bound)
    report = comparison.report
    assert report.wrong_elements == int((error > bound).sum())
    assert report.total_elements == expected.numel()
    assert math.isclose(report.relative_l2, float(error.norm() / expected.norm()), rel_tol=1e-9)
    assert report.worst_over_tolerance == float((error / bound).max()) == report.worst.over_tolerance
    assert report.max_rel == float((error / expected.abs()).max())
    assert report.first_wrong.index == tuple((error > bound).nonzero()[0].tolist())
    masked = compare(got, expected, compared=expected > 0).report
    assert masked.total_elements == int((expected > 0).sum())
    assert masked.wrong_elements == int(((error > bound) & (expected > 0)).sum())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_finite_is_wrong_unless_declared(value):
    expected = torch.tensor([1.0, value, 2.0], dtype=torch.float64)
    for other in (math.nan, math.inf, -math.inf, 0.0):
        got = torch.tensor([1.0, other, 2.0])
        same = str(other) == str(value)
        assert compare(got, expected, not_finite_allowed=True).report.wrong_elements == (0 if same else 1)
        assert compare(got, expected).report.wrong_elements == 1
    agreed = compare(expected.float(), expected, not_finite_allowed=True).report
    assert agreed.relative_l2 == 0
    assert agreed.worst_over_tolerance == 0
    invented = compare(torch.tensor([value, value, 2.0]), expected, not_finite_allowed=True)
    assert invented.not_finite.tolist() == [True, False, False]


def test_zero_tolerance_asks_for_the_very_value():
    expected = torch.tensor([0.0, 3.0], dtype=torch.float64)
    exact = Tolerance(rtol=0, atol=0)
    assert compare(torch.tensor([0, 3]), expected, exact).report.worst_over_tolerance == 0
    wrong = compare(torch.tensor([0, 4]), expected, exact).report
    assert (wrong.wrong_elements, wrong.worst_over_tolerance) == (1, math.inf)


def test_empty_outputs_and_scalars():
    empty = compare(torch.zeros(0, 4), torch.zeros(0, 4, dtype=torch.float64))
    assert (empty.report.total_elements, empty.report.relative_l2) == (0, None)
    scalar = compare(torch.tensor(2.0), torch.tensor(1.0, dtype=torch.float64)).report
    assert scalar.worst.place == "o[]"


def test_labels_of_the_real_problems():
    problem = load_problem(ROOT / "problems" / "chunk_fwd_h")
    sizes = {"B": 1, "T": 128, "H": 2, "K": 64, "V": 64}
    h = axis_labels(problem, problem.outputs[0], sizes)
    assert place("h", h, (0, 1, 0, 3, 5)) == "h[b=0, chunk=1, head=0, k=3, v=5]"
    assert [axis.chunk for axis in h] == [None, 1, None, None, None]
    v_new = axis_labels(problem, problem.outputs[1], sizes)
    assert place("v_new", v_new, (0, 65, 1, 2)) == "v_new[b=0, t=65, head=1, v=2]"
    assert v_new[1].chunk == 64
    problem = load_problem(ROOT / "problems" / "fp8_quant")
    x_s = axis_labels(problem, problem.outputs[1], {"tokens": 4, "hidden": 512, "group": 128})
    assert place("x_s", x_s, (3, 2)) == "x_s[tokens=3, group=2]"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m: m.fill_(True), None),
        (lambda m: m[1].fill_(True), "b=1"),
        (lambda m: m[:, 24:].fill_(True), "t=24..31 (the last 8 of 32)"),
        (lambda m: m[:, :8].fill_(True), "t=0..7 (the first 8 of 32)"),
        (lambda m: m[:, 8:16].fill_(True), "t=8..15"),
        (lambda m: m[0, 1::4].fill_(True), "b=0, t=1, 5, ... 29 (one in 4)"),
        (lambda m: m[:, [1, 2, 7]].fill_(True), None),
    ],
)
def test_regions(change, text):
    mask = torch.zeros(2, 32, dtype=torch.bool)
    change(mask)
    assert describe_region(mask, (AxisLabel("b", 2), AxisLabel("t", 32))) == text


def test_form_of_a_single_output():
    problem = load_problem(PROBLEMS / "broken")
    right = Form("float32", (8,), (1,))
    assert check_form(problem, {"N": 8}, [right], "tensor") is None
    listed = check_form(problem, {"N": 8}, [right], "list")
    assert listed.message == "custom_kernel returned a list of one tensor; return the tensor out itself"
    nothing = check_form(problem, {"N": 8}, [])
    assert nothing.message == "custom_kernel returned 0 tensors; broken asks for one tensor, out"


def test_strides_of_axes_of_size_one_mean_nothing():
    problem = load_problem(PROBLEMS / "toy")
    sizes = {**SHAPE, "B": 1}
    forms = [Form("float32", (1, 64, 8), (9, 8, 1)), Form("float32", (1, 4, 8)), Form("int32", (1,), (0,))]
    assert check_form(problem, sizes, forms) is None
    expanded = [Form("float32", (1, 64, 8), (0, 0, 1)), *forms[1:]]
    assert check_form(problem, sizes, expanded).reason == "wrong_strides"


@pytest.mark.parametrize("dtype", DTYPES)
def test_poison_is_known_and_arithmetic_does_not_make_it(dtype):
    made = poison((64, 5), dtype, torch.Generator().manual_seed(1))
    assert made.dtype == dtype
    assert made.shape == (64, 5)
    assert bool(is_poison(made).all())
    assert len(made.view(torch.uint8).reshape(320, -1).unique(dim=0)) > 1
    zero = torch.zeros(4, dtype=dtype)
    for nan in (zero / zero, (zero + math.inf) * 0, zero + math.nan, -(zero + math.nan)):
        assert bool(torch.isnan(nan).all())
        assert not bool(is_poison(nan).any())
    assert not bool(is_poison(torch.randn(100).to(dtype)).any())


def test_poison_of_32_bits_reads_as_poison_in_every_float():
    made = poison((64,), torch.float32, torch.Generator().manual_seed(1))
    for dtype in DTYPES:
        assert bool(is_poison(made.view(dtype)).all())


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool])
def test_integers_get_garbage(dtype):
    one, two = (poison((100,), dtype, torch.Generator().manual_seed(seed)) for seed in (1, 2))
    assert one.dtype == dtype
    assert not torch.equal(one, two)
    assert not bool(is_poison(one).any())


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_float8_poison_is_nan(dtype):
    assert bool(poison((8,), dtype, torch.Generator().manual_seed(1)).float().isnan().all())


def test_same_bits_tells_zeros_apart_and_nan_equals_itself():
    left = torch.tensor([0.0, math.nan, 1.0])
    assert same_bits(left, left.clone()).all()
    assert same_bits(left, torch.tensor([-0.0, math.nan, 1.0])).tolist() == [False, True, True]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 2**24 + 1, 23_370_156, 2**31 + 3])
def test_examples_are_spread_over_any_number_of_wrong_elements(count):
    places = spread_evenly(count, 5)
    assert len(places) == min(count, 5)
    assert places == sorted(set(places))
    assert not count or (places[0], places[-1]) == (0, count - 1)
