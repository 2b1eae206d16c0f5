"""What the divisions allow: plans by hand, each with one property."""

import pytest

from harness.plan import Argument, ConstantStep, LaunchStep, OpStep, Plan, Tensor, TensorMeta
from harness.policy import Limits, check_options, check_plan

META = TensorMeta((64, 64), (64, 1), "float32")


def plan(*steps, outputs=(1,), inputs=(0,), tensors=8):
    return Plan("M64", (META,) * tensors, inputs, outputs, "tensor", tuple(steps))


def op(name, *args, out=None, line=1):
    values = tuple(Tensor(a) if isinstance(a, int) else a for a in args)
    return OpStep(name, values, (), () if out is None else (Tensor(out),), line)


def launch(*tensors, origin="helion", grid=(1, 1, 1), line=5):
    args = tuple(Argument(f"a{n}", "*fp32", Tensor(n)) for n in tensors)
    return LaunchStep("a" * 64, "b" * 64, "kernel", grid, args, origin, line)


EMPTY = op("aten.empty_strided.default", (64, 64), out=1)


def reasons(p, division="closed", **limits):
    return [v.reason for v in check_plan(p, division, (), Limits(**limits) if limits else None)]


@pytest.mark.parametrize(
    "steps",
    [
        (EMPTY, launch(0, 1)),
        (op("aten.empty_like.default", 0, out=2), launch(0, 2), op("aten.clone.default", 2, out=1)),
        (op("aten.empty_like.default", 0, out=2), launch(0, 2), op("aten._to_copy.default", 2, out=1)),
        (op("aten.empty_like.default", 0, out=2), launch(0, 2), op("aten.view.default", 2, (64, 64), out=1)),
        (EMPTY, op("aten.zero_.default", 1, out=1), launch(0, 1)),
        (op("aten.constant_pad_nd.default", 0, (1, 1), out=2), EMPTY, launch(2, 1)),
        (EMPTY, op("aten.empty_like.default", 0, out=2), launch(0, 2), op("aten.copy_.default", 1, 2, out=1)),
        (op("aten.empty_like.default", 0, out=2), launch(0, 2), op("aten.cat.default", (Tensor(2), Tensor(2)), out=1)),
        # a causal mask from no input
        (
            op("aten.arange.default", None, out=2),
            op("aten.view.default", 2, (64, 1), out=3),
            op("aten.ge.Tensor", 3, 2, out=4),
            EMPTY,
            launch(0, 4, 1),
        ),
        (ConstantStep(Tensor(2), b"\0" * 64), EMPTY, launch(0, 2, 1)),
        # rows of zeros in front of the result, and a mask in the form of an input
        (
            op("aten.empty_like.default", 0, out=2),
            launch(0, 2),
            op("aten.new_zeros.default", 0, (1, 64), out=3),
            op("aten.cat.default", (Tensor(3), Tensor(2)), out=1),
        ),
        (op("aten.ones_like.default", 0, out=2), op("aten.tril.default", 2, out=3), EMPTY, launch(0, 3, 1)),
    ],
    ids="plain clone cast view zeroed padded copied cat mask constant zeros_in_front mask_like".split(),
)
def test_closed_allows(steps):
    assert reasons(plan(*steps)) == []


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((EMPTY, launch(0, 1), op("aten.mm.default", 0, 1, out=1)), "host_operation"),
        ((op("aten.mul.Tensor", 0, 0, out=2), EMPTY, launch(2, 1)), "host_operation"),
        ((EMPTY, launch(0, 1), op("aten.copy_.default", 1, 0, out=1)), "output_not_from_kernel"),
        ((EMPTY, launch(0, 1), op("aten.fill_.Scalar", 1, 3.0, out=1)), "output_not_from_kernel"),
        (
            (op("aten.empty_like.default", 0, out=2), launch(0, 2), op("aten.clone.default", 0, out=1)),
            "output_not_from_kernel",
        ),
        ((EMPTY, op("aten.copy_.default", 1, 0, out=1)), "no_helion_launch"),
        ((EMPTY, launch(0, 1, origin="triton")), "raw_triton"),
        ((op("aten.set_data.default", 0, out=1), launch(0, 1)), "host_operation"),
        ((op("prim.device.default", 0, out=1), launch(0, 1)), "host_operation"),
    ],
    ids="mm elementwise overwritten filled decoy no_launch raw_triton unknown other_namespace".split(),
)
def test_closed_refuses(steps, reason):
    assert reason in reasons(plan(*steps))


def test_a_buffer_is_written_by_the_kernel_and_returned():
    steps = plan(launch(0, 3), outputs=(3,), inputs=(0, 3))
    assert [v.reason for v in check_plan(steps, "closed", buffers=(1,))] == []
    assert [v.reason for v in check_plan(steps, "closed")] == ["output_not_from_kernel"]


def test_returning_an_input_is_refused():
    found = check_plan(plan(op("aten.empty_like.default", 0, out=2), launch(2), outputs=(3,), inputs=(0, 3)), "closed")
    assert [v.reason for v in found] == ["output_not_from_kernel"]
    assert "it is an input" in found[0].message


def test_a_violation_names_operation_and_line():
    (violation, *_) = check_plan(plan(EMPTY, launch(0, 1), op("aten.mm.default", 0, 1, out=1, line=42)), "closed")
    assert violation.line == 42
    assert "mm (aten.mm.default)" in violation.message


def test_open_allows_raw_triton_and_listed_torch():
    steps = (op("aten.mm.default", 0, 0, out=2), EMPTY, launch(2, 1, origin="triton"))
    assert reasons(plan(*steps), "open") == []
    assert reasons(plan(op("aten.mm.default", 0, 0, out=1)), "open") == []
    assert reasons(plan(op("aten.svd.default", 0, out=1)), "open") == ["host_operation"]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"steps": 1}, "too_many_steps"),
        ({"launches": 0}, "too_many_launches"),
        ({"tensors": 1}, "too_many_tensors"),
        ({"memory_multiple": 0, "memory_base_bytes": 1}, "too_many_memory"),
        ({"grid_programs": 0}, "too_many_grid"),
    ],
)
def test_caps(limits, reason):
    assert reasons(plan(EMPTY, launch(0, 1)), **limits) == [reason]


def test_constants_are_capped():
    assert reasons(plan(ConstantStep(Tensor(2), b"\0" * 65), EMPTY, launch(0, 2, 1)), constant_bytes=64) == [
        "too_many_constants"
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"num_warps": 8, "num_stages": 4, "num_ctas": 2, "maxnreg": 128},
        {"launch_pdl": True, "launch_cooperative_grid": False, "enable_fp_fusion": False},
        {"advanced_controls": "season-1"},
        {},
    ],
)
def test_options_allowed(options):
    assert check_options(options, frozenset({"season-1"})) == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"num_warps": 3}, "num_warps=3"),
        ({"num_warps": True}, "num_warps=True"),
        ({"num_stages": 99}, "0 to 16"),
        ({"maxnreg": 8}, "16 to 255"),
        ({"launch_pdl": 1}, "True or False"),
        ({"ir_override": "/tmp/evil.ttir"}, "ir_override is not allowed"),
        ({"extern_libs": "x"}, "extern_libs is not allowed"),
        ({"ptx_options": "--anything"}, "ptx_options is not allowed"),
        ({"advanced_controls": "mine"}, "'mine' are not provided"),
    ],
)
def test_options_refused(options, told):
    (violation,) = check_options(options, frozenset({"season-1"}), 12)
    assert told in violation.message
    assert violation.line == 12
