"""What stock Triton's interpreter gets wrong, or leaves out: each of it as the GPU has it."""

from __future__ import annotations

import math

import pytest
import torch

from .child import HEADER, Child

LIBDEVICE = HEADER + "from torch._inductor.runtime.triton_compat import libdevice\n"
HELPERS = HEADER + "from torch._inductor.runtime import triton_helpers\n"
N = 64
AT = "i = tl.arange(0, 64)\n"


def ran(answer: tuple[dict, dict], index: int = 0) -> torch.Tensor:
    response, results = answer
    assert response["status"] == "done", response
    return results[str(index)]


def like(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.empty(shape or (N,), dtype=dtype)


def test_bfloat16_arithmetic_rounds_once_to_nearest_even(child: Child) -> None:
    x, y = torch.randn(N).bfloat16(), torch.randn(N).bfloat16()
    body = AT + "a = tl.load(x0 + i)\nb = tl.load(x1 + i)\ntl.store(y0 + i, a * b + a)"
    assert torch.equal(ran(child.launch(body, (x, y), (like(torch.bfloat16),))), x * y + x)


def test_bfloat16_comparison_and_maximum(child: Child) -> None:
    x, y = torch.randn(N).bfloat16(), torch.randn(N).bfloat16()
    body = AT + "a = tl.load(x0 + i)\nb = tl.load(x1 + i)\ntl.store(y0 + i, tl.where(a < b, tl.maximum(a, b), -b))"
    assert torch.equal(ran(child.launch(body, (x, y), (like(torch.bfloat16),))), torch.where(x < y, y, -y))


def test_bfloat16_sum_is_rounded_once(child: Child) -> None:
    x = torch.randn(16, 64).bfloat16()
    body = AT + "r = tl.arange(0, 16)\nv = tl.load(x0 + r[:, None] * 64 + i[None, :])\ntl.store(y0 + r, tl.sum(v, 1))"
    expected = x.float().sum(1)
    result = ran(child.launch(body, (x,), (like(torch.bfloat16, 16),)))
    torch.testing.assert_close(result.float(), expected, rtol=2**-8, atol=1e-3)


@pytest.mark.parametrize(
    ("dtype", "name", "largest"),
    [(torch.float8_e4m3fn, "float8e4nv", 448.0), (torch.float8_e5m2, "float8e5", 57344.0)],
)
def test_float8_saturates_and_keeps_nan(child: Child, dtype: torch.dtype, name: str, largest: float) -> None:
    x = torch.cat([torch.tensor([1e9, -1e9, math.inf, -math.inf, math.nan, largest, 0.0, -0.0]), torch.randn(56) * 30])
    body = AT + f"tl.store(y0 + i, tl.load(x0 + i).to(tl.{name}))"
    result = ran(child.launch(body, (x,), (like(dtype),))).float()
    assert result[:4].tolist() == [largest, -largest, largest, -largest]
    assert result[4].isnan()
    assert torch.equal(result[5:], x[5:].to(dtype).float())


def test_float_to_integer_saturates(child: Child) -> None:
    x = torch.tensor([1e20, -1e20, math.nan, 2.9, -2.9, math.inf, -math.inf, 2147483520.0] * 8)
    body = AT + "v = tl.load(x0 + i)\ntl.store(y0 + i, v.to(tl.int32))\ntl.store(y1 + i, v.to(tl.uint8))"
    answer = child.launch(body, (x,), (like(torch.int32), like(torch.uint8)))
    top, low = 2**31 - 1, -(2**31)
    assert ran(answer)[:8].tolist() == [top, low, 0, 2, -2, top, low, 2147483520]
    assert ran(answer, 1)[:5].tolist() == [255, 0, 0, 2, 0]


@pytest.mark.parametrize(
    ("precision", "error"), [("tf32", 2e-3), ("tf32x3", 1e-5), ("bf16x3", 2e-3), ("bf16x6", 1e-5), ("ieee", 1e-6)]
)
def test_dot_has_the_precision_asked_for(child: Child, precision: str, error: float) -> None:
    x, y = torch.rand(16, 64), torch.rand(64, 16)
    body = (
        AT + "r = tl.arange(0, 16)\na = tl.load(x0 + r[:, None] * 64 + i[None, :])\n"
        f"b = tl.load(x1 + i[:, None] * 16 + r[None, :])\nc = tl.dot(a, b, input_precision='{precision}')\n"
        "tl.store(y0 + r[:, None] * 16 + r[None, :], c)"
    )
    exact = x.double() @ y.double()
    relative = ((ran(child.launch(body, (x, y), (like(torch.float32, 16, 16),))) - exact) / exact).abs().max()
    assert relative < error
    if precision == "tf32":
        assert relative > 1e-5, "tf32 must not be exact: a laptop would pass what the GPU fails"


@pytest.mark.parametrize("halves", [1.0, 1.998046875, 3.0, 2.0])
def test_dot_without_a_precision_is_tf32_and_truncates(child: Child, halves: float) -> None:
    """What an H200 gave for these values of (x - 1) / 2^-11: 0, 0, 2, 2."""
    x, y = torch.full((16, 16), 1 + halves * 2**-11), torch.eye(16)
    body = (
        "r = tl.arange(0, 16)\np = r[:, None] * 16 + r[None, :]\n"
        "tl.store(y0 + p, tl.dot(tl.load(x0 + p), tl.load(x1 + p)))"
    )
    result = ran(child.launch(body, (x, y), (like(torch.float32, 16, 16),)))
    assert (result == 1 + halves // 2 * 2**-10).all()


def test_integer_dot_is_exact(child: Child) -> None:
    x, y = (torch.randint(-128, 128, (32, 32), dtype=torch.int8) for _ in "xy")
    body = (
        "r = tl.arange(0, 32)\np = r[:, None] * 32 + r[None, :]\n"
        "tl.store(y0 + p, tl.dot(tl.load(x0 + p), tl.load(x1 + p)))"
    )
    assert torch.equal(ran(child.launch(body, (x, y), (like(torch.int32, 32, 32),))), x.int() @ y.int())


@pytest.mark.parametrize("kind", ["e4m3", "e5m2", "e2m1"])
def test_scaled_dot(child: Child, kind: str) -> None:
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    dtype = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}.get(kind)
    if dtype is None:
        codes_a, codes_b = (torch.randint(0, 16, s, dtype=torch.uint8) for s in ((32, 64), (64, 32)))
        x = codes_a[:, ::2] | codes_a[:, 1::2] << 4
        y = codes_b[::2] | codes_b[1::2] << 4
        a, b = table[codes_a.long()], table[codes_b.long()]
    else:
        low_a, low_b = torch.randn(32, 64).to(dtype), torch.randn(64, 32).to(dtype)
        x, y, a, b = low_a.view(torch.uint8), low_b.view(torch.uint8), low_a.float(), low_b.float()
    scale_a, scale_b = (torch.randint(120, 135, (32, 2), dtype=torch.uint8) for _ in "ab")
    k = x.shape[1]
    body = (
        f"m = tl.arange(0, 32)\nk = tl.arange(0, {k})\ns = tl.arange(0, 2)\n"
        f"a = tl.load(x0 + m[:, None] * {k} + k[None, :])\nb = tl.load(x1 + k[:, None] * 32 + m[None, :])\n"
        "p = tl.load(x2 + m[:, None] * 2 + s[None, :])\nq = tl.load(x3 + m[:, None] * 2 + s[None, :])\n"
        f"c = tl.dot_scaled(a, p, '{kind}', b, q, '{kind}')\ntl.store(y0 + m[:, None] * 32 + m[None, :], c)"
    )
    exact_a = a.double() * (2.0 ** (scale_a.double() - 127)).repeat_interleave(32, 1)
    exact_b = b.double() * (2.0 ** (scale_b.double() - 127)).repeat_interleave(32, 1).T
    result = ran(child.launch(body, (x, y, scale_a, scale_b), (like(torch.float32, 32, 32),)))
    torch.testing.assert_close(result.double(), exact_a @ exact_b, rtol=1e-5, atol=1e-2)


def test_shifts_and_division_are_those_of_c(child: Child) -> None:
    x = torch.randint(-(2**31), 2**31 - 1, (N,), dtype=torch.int32)
    y = torch.tensor([3, -7] * 32, dtype=torch.int32)
    body = (
        AT + "a = tl.load(x0 + i)\nb = tl.load(x1 + i)\ntl.store(y0 + i, a // b)\ntl.store(y1 + i, a % b)\n"
        "tl.store(y2 + i, a >> 3)\ntl.store(y3 + i, (a.to(tl.uint32, bitcast=True) >> 3).to(tl.int32, bitcast=True))"
    )
    answer = child.launch(body, (x, y), tuple(like(torch.int32) for _ in range(4)))
    assert torch.equal(ran(answer), torch.div(x, y, rounding_mode="trunc"))
    assert torch.equal(ran(answer, 1), torch.fmod(x, y))
    assert torch.equal(ran(answer, 2), x >> 3)
    assert torch.equal(ran(answer, 3), ((x.long() & 0xFFFFFFFF) >> 3).int())


def test_nan_rules_of_minimum_maximum_and_clamp(child: Child) -> None:
    x = torch.tensor([math.nan, 1.0] * 32)
    body = (
        AT + "v = tl.load(x0 + i)\ntl.store(y0 + i, tl.maximum(v, 0.5))\n"
        "tl.store(y1 + i, tl.maximum(v, 0.5, propagate_nan=tl.PropagateNan.ALL))\n"
        "tl.store(y2 + i, tl.clamp(v, 0.25, 0.5))\ntl.store(y3 + i, tl.max(v, 0) + 0 * i)"
    )
    answer = child.launch(body, (x,), tuple(like(torch.float32) for _ in range(4)))
    assert ran(answer)[:2].tolist() == [0.5, 1.0]
    assert ran(answer, 1)[0].isnan()
    assert ran(answer, 2)[:2].tolist() == [0.25, 0.5]
    assert ran(answer, 3)[0] == 1.0


def test_custom_reduction_in_order(child: Child) -> None:
    """Composing affine maps does not commute: neighbours must be combined left to right."""
    a, b = torch.rand(N) + 0.5, torch.randn(N)
    header = HEADER + "@triton.jit\ndef compose(a, b, c, d):\n    return a * c, b * c + d\n\n"
    body = (
        AT + "p, q = tl.reduce((tl.load(x0 + i), tl.load(x1 + i)), 0, compose)\n"
        "tl.store(y0 + i, p + 0 * i)\ntl.store(y1 + i, q + 0 * i)"
    )
    answer = child.launch(body, (a, b), (like(torch.float32), like(torch.float32)), header=header)
    state = torch.tensor(0.0).double()
    for scale, shift in zip(a.double(), b.double(), strict=True):
        state = state * scale + shift
    torch.testing.assert_close(ran(answer)[0].double(), a.double().prod(), rtol=1e-5, atol=0)
    torch.testing.assert_close(ran(answer, 1)[0].double(), state, rtol=1e-4, atol=1e-5)


def test_reverse_scan_and_bfloat16_cumsum(child: Child) -> None:
    x = torch.randn(N)
    header = HEADER + "@triton.jit\ndef larger(a, b):\n    return tl.maximum(a, b)\n\n"
    body = (
        AT + "v = tl.load(x0 + i)\ntl.store(y0 + i, tl.associative_scan(v, 0, larger, reverse=True))\n"
        "tl.store(y1 + i, tl.cumsum(v.to(tl.bfloat16), 0))"
    )
    answer = child.launch(body, (x,), (like(torch.float32), like(torch.bfloat16)), header=header)
    assert torch.equal(ran(answer), x.flip(0).cummax(0).values.flip(0))
    torch.testing.assert_close(ran(answer, 1).float(), x.bfloat16().float().cumsum(0), rtol=2**-8, atol=1e-2)


def test_boolean_operators_work_on_whole_tensors(child: Child) -> None:
    """Python's `and`, `or`, `not` would look at a tensor as a whole."""
    x = torch.randn(N)
    body = AT + "v = tl.load(x0 + i)\nm = (v > 0 and v < 1) or not (v > -1)\ntl.store(y0 + i, tl.where(m, v, 0.0))"
    mask = ((x > 0) & (x < 1)) | ~(x > -1)
    assert torch.equal(ran(child.launch(body, (x,), (like(torch.float32),))), torch.where(mask, x, 0.0))


def test_argmax_with_nan_as_inductor_has_it(child: Child) -> None:
    x = torch.randn(4, 64)
    x[1, 7] = x[1, 9] = math.nan
    body = (
        AT + "r = tl.arange(0, 4)\nv = tl.load(x0 + r[:, None] * 64 + i[None, :])\n"
        "at = tl.broadcast_to(i[None, :], [4, 64])\nbest, index = triton_helpers.max_with_index(v, at, 1)\n"
        "tl.store(y0 + r, index)"
    )
    answer = child.launch(body, (x,), (like(torch.int32, 4),), header=HELPERS)
    assert torch.equal(ran(answer), x.argmax(1).int())


def test_loop_variable_has_the_width_of_the_gpu(child: Child) -> None:
    body = "total = 0\nfor n in tl.range(2, 4):\n    total += n * 2147483647\ntl.store(y0, total)"
    expected = torch.tensor([5 * 2147483647]).to(torch.int64).to(torch.int32)
    assert ran(child.launch(body, (), (like(torch.int32, 1),)))[0] == expected[0]


def test_every_libdevice_name_of_the_allow_list_runs_or_says_so(child: Child) -> None:
    from harness.replay.cpu.vocabulary import FUNCTIONS

    one = {"atan2", "copysign", "fdim", "fmod", "hypot", "nextafter", "pow", "div_rn", "add_rn", "mul_rn", "sub_rn"}
    unknown = []
    for name in sorted(FUNCTIONS["libdevice"] - {"fma", "fma_rn", "ldexp", "ffs", "popc"}):
        arguments = "v, v" if name in one | {"fast_dividef", "fast_powf"} else "v"
        kind = "fp64" if name == "isfinited" else "fp32"
        body = AT + f"v = tl.load(x0 + i).to(tl.{'float64' if kind == 'fp64' else 'float32'}) * 0.5 + 0.25\n"
        body += f"tl.store(y0 + i, libdevice.{name}({arguments}))"
        response, _ = child.launch(body, (torch.rand(N),), (like(torch.float32),), header=LIBDEVICE)
        if response["status"] != "done":
            unknown.append((name, response["status"], response["reason"]))
    missing_on_the_gpu = {"fast_tanhf"}
    assert {name for name, *_ in unknown} <= missing_on_the_gpu, unknown
    assert all(status == "unsupported" for _, status, _ in unknown)


def test_bfloat16_atomics_add_every_occurrence(child: Child) -> None:
    body = AT + "tl.atomic_add(x0 + i % 4, tl.full([64], 1.0, tl.bfloat16))"
    response, results = child.launch(body, (torch.zeros(4).bfloat16(),))
    assert response["status"] == "done", response
    assert results["input-0"].tolist() == [16.0] * 4


def test_atomics_return_the_value_before(child: Child) -> None:
    body = "p = tl.program_id(0)\nold = tl.atomic_add(x0, 1)\ntl.store(y0 + old, p)"
    answer = child.launch(body, (torch.zeros(1, dtype=torch.int32),), (like(torch.int32, 32),), grid=(32, 1, 1))
    order = ran(answer).tolist()
    assert sorted(order) == list(range(32))
    assert order != sorted(order), "programs run in shuffled order"


def test_scalar_arguments_have_their_declared_types(child: Child) -> None:
    scalars = [
        ("n", "i32", 5),
        ("one", "constexpr", 1),
        ("f", "fp32", 0.1),
        ("big", "i64", 2**40),
        ("BLOCK", "constexpr", 64),
    ]
    body = "i = tl.arange(0, BLOCK)\ntl.store(y0 + i, f * n + one)\ntl.store(y1 + i, big + one.to(tl.int64))"
    answer = child.launch(body, (), (like(torch.float64), like(torch.int64)), scalars=scalars)
    assert ran(answer)[0].item() == (torch.tensor(0.1) * 5 + 1).item()
    assert ran(answer, 1)[0] == 2**40 + 1
