"""Kernels that Helion generated, against float64 formulas."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from .child import Child

Tensors = tuple[torch.Tensor, ...]
GENERATOR = torch.Generator().manual_seed(5)


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=GENERATOR).to(dtype)


def whole(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=GENERATOR).to(dtype)


def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.double() @ y.double()


def reductions(x: torch.Tensor) -> Tensors:
    x = x.double()
    return x.amax(-1), x.amin(-1), x.sum(-1), x.argmax(-1), x.prod(-1)


def layer_norm(x: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x.double(), x.shape[-1:])


def fp8_quant(x: torch.Tensor) -> Tensors:
    scale = x.float().abs().amax(-1).clamp(min=1e-10) * (1 / 448)
    return (x.float() / scale[:, None]).clamp(-448, 448).to(torch.float8_e4m3fn), scale


def casts(x: torch.Tensor) -> Tensors:
    low = x.to(torch.bfloat16)
    e4m3, e5m2 = x.clamp(-448, 448).to(torch.float8_e4m3fn), x.clamp(-57344, 57344).to(torch.float8_e5m2)
    return low, x.half(), e4m3, e5m2, x.clamp(-(2**31), 2**31 - 129).to(torch.int32), low * low


def recurrence(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a, b, h = a.double(), b.double(), torch.zeros(a.shape[0], dtype=torch.float64)
    steps = []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        steps.append(h)
    return torch.stack(steps, 1)


def libdevice(x: torch.Tensor) -> torch.Tensor:
    x = x.double()
    size = x.abs()
    return torch.stack(
        [
            *(x.exp(), size.log1p(), x.tanh(), x.erf(), (size + 1).rsqrt(), x.sigmoid(), functional.softplus(x)),
            *(functional.gelu(x), functional.silu(x), x.asinh(), torch.atan2(x, x + 3)),
            *(torch.fmod(x, torch.tensor(0.7).double()), x.round(), x.expm1()),
            *(x.sin() + x.cos() * (size + 1).lgamma(), x.floor() + x.ceil() * x.trunc()),
        ]
    )


def integers(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.stack([a // b, a % b, torch.div(a, b, rounding_mode="trunc"), a >> 2, (a ^ b) & ~b, a << 3])


def atomics(indices: torch.Tensor) -> Tensors:
    return torch.bincount(indices, minlength=16), indices.max().double()[None]


def jagged_sum(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[a:b].double().sum(0) for a, b in itertools.pairwise(offsets.tolist())])


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q.double(), k.double(), v.double())


def barrier(x: torch.Tensor) -> torch.Tensor:
    return 2 * x + 2 * x.flip(0)


def halve_until_small(x: torch.Tensor) -> torch.Tensor:
    """Each block of 32 is halved until its largest element is at most 1."""
    return torch.cat([block * 0.5 ** block.abs().max().log2().ceil().clamp(min=0) for block in x.split(32)])


def control(x: torch.Tensor, sign: torch.Tensor) -> torch.Tensor:
    doubled = x * 2 if sign[0] > 0 else x - 1
    return torch.cat([doubled[:64], doubled[64:] + 100])


def bools(x: torch.Tensor) -> Tensors:
    return ((x > 0) & ~(x > 1)) | x.isnan() | x.isinf(), (x.nan_to_num(0, 6553.5, 0) * 10).int().to(torch.uint8)


def convolution(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    x = x.double()
    return sum(functional.pad(x, (j, 0))[:, : x.shape[1]] * weight[j] for j in range(3))


def extremes(x: torch.Tensor) -> Tensors:
    return torch.tensor([1, 7]), torch.stack([x.max().clamp(min=0), x.min().clamp(max=0)])


def bytes_of(*shape: int) -> torch.Tensor:
    return whole(-128, 128, *shape, dtype=torch.int8)


HALF = torch.bfloat16
SPECIAL = torch.cat([normal(97).abs(), torch.tensor([math.nan, math.inf, math.inf])])
OFFSETS = torch.tensor([0, 7, 7, 20, 33, 34, 52, 60])
POSITIVE = torch.rand(6, 33, generator=GENERATOR)
LARGE = torch.cat([normal(200) * 10, torch.tensor([1e9, -3e9, 500.0, 70000.0]), normal(96) * 1e-3])
SQUARE = (normal(80, 48), normal(48, 72))
BF16 = {"rtol": 2e-2, "atol": 2e-2}
TF32 = {"rtol": 5e-3, "atol": 2e-2}
EXACT = {"rtol": 0.0, "atol": 0.0}
CLOSE = {"rtol": 1e-5, "atol": 1e-5}

CASES: dict[str, tuple[Tensors, Callable[..., Any], dict[str, float]]] = {
    **{
        f"matmul_{kind}": (SQUARE, matmul, TF32)
        for kind in (
            *("pointer", "block_ptr", "descriptor", "host_descriptor", "persistent"),
            *("persistent_blocked", "xyz"),
        )
    },
    "matmul_ieee": (SQUARE, matmul, CLOSE),
    "matmul_tf32x3": (SQUARE, matmul, CLOSE),
    "matmul_bf16": ((SQUARE[0].to(HALF), SQUARE[1].to(HALF)), matmul, CLOSE),
    "matmul_fp8": (tuple(normal(64, 64).to(torch.float8_e4m3fn) for _ in "xy"), matmul, CLOSE),
    "split_k": ((normal(32, 128), normal(128, 48)), matmul, {"rtol": 1e-2, "atol": 1e-2}),
    "softmax_two_pass": ((normal(37, 100),), lambda x: x.double().softmax(-1), CLOSE),
    "reductions": ((normal(21, 60),), reductions, CLOSE),
    "reductions_looped": ((normal(21, 60, dtype=HALF),), reductions, CLOSE),
    "layer_norm_bf16": ((normal(19, 96, dtype=HALF),), layer_norm, BF16),
    "fp8_quant": ((normal(13, 64, dtype=HALF),), fp8_quant, EXACT),
    "casts": ((LARGE,), casts, EXACT),
    "cumulative": ((normal(10, 50),), lambda x: (x.double().cumsum(1), x.double().cumprod(1)), CLOSE),
    "recurrence": ((POSITIVE, normal(6, 33)), recurrence, CLOSE),
    "gather_rows": ((normal(40, 24), whole(0, 40, 30)), lambda x, i: x[i], EXACT),
    "libdevice": ((normal(200) * 2,), libdevice, {"rtol": 1e-4, "atol": 2e-5}),
    "integers": (
        (whole(-1000, 1000, 150, dtype=torch.int32), whole(1, 30, 150, dtype=torch.int32) * -1),
        integers,
        EXACT,
    ),
    "atomics": ((whole(0, 16, 200),), atomics, EXACT),
    "sort": ((normal(9, 32),), lambda x: tuple(x.sort(1)), EXACT),
    "barrier": ((normal(500),), barrier, EXACT),
    "jagged_sum": ((normal(60, 40), OFFSETS), jagged_sum, CLOSE),
    "topk": ((normal(9, 32),), lambda x: x.topk(4, 1).values, EXACT),
    "sort_desc_bf16": ((normal(9, 32, dtype=HALF),), lambda x: x.sort(1, descending=True).values, EXACT),
    "inline_triton": ((normal(100), normal(100)), lambda a, b: torch.where(a > b, a * 2, b), EXACT),
    "bmm_fp16": (tuple(normal(*s, dtype=torch.float16) for s in ((4, 32, 48), (4, 48, 32))), matmul, BF16),
    "int8_dot": ((bytes_of(64, 64), bytes_of(64, 64)), lambda a, b: a.int() @ b.int(), EXACT),
    "dynamic": ((normal(37, 50), normal(50)), lambda a, b: functional.gelu(a, approximate="tanh") + b, CLOSE),
    "control": ((normal(150), torch.ones(1, dtype=torch.int32)), control, EXACT),
    "while_loop": ((normal(150) * 9,), halve_until_small, EXACT),
    "split_join": ((normal(8, 32),), lambda x: x.reshape(8, 16, 2).flip(2).reshape(8, 32), EXACT),
    "float64": ((normal(9, 40).double(),), lambda x: x.exp().sum(-1), {"rtol": 1e-14, "atol": 0.0}),
    "bools": ((SPECIAL,), bools, EXACT),
    "welford": ((normal(12, 64),), layer_norm, CLOSE),
    "fp8_in": ((normal(100).to(torch.float8_e5m2),), lambda x: x.float() * 0.5, EXACT),
    "atomic_bf16": (
        (whole(-4, 4, 40, 16).to(HALF), whole(0, 10, 40)),
        lambda x, i: torch.zeros(10, 16).index_add(0, i, x.float()),
        EXACT,
    ),
    "atomic_minmax": ((normal(100),), extremes, EXACT),
    "conv": ((normal(5, 50), normal(3)), convolution, CLOSE),
    "gather_last": ((normal(8, 32), whole(0, 32, 8, 32)), lambda x, i: x.gather(1, i), EXACT),
    "permute": ((normal(6, 20, 30),), lambda x: x.permute(2, 0, 1), EXACT),
    "attention_bf16": (tuple(normal(2, 64, 32, dtype=HALF) for _ in "qkv"), attention, BF16),
}


@pytest.mark.parametrize("name", CASES)
def test_generated_kernel(child: Child, name: str) -> None:
    inputs, formula, tolerance = CASES[name]
    child.add_fixture(name)
    response, results = child.replay(name, inputs)
    assert response["status"] == "done", response
    assert response["programs_run"] == response["programs_total"] > 0
    expected = formula(*inputs)
    for index, value in enumerate(expected if isinstance(expected, tuple) else (expected,)):
        torch.testing.assert_close(results[str(index)].double(), value.double(), **tolerance)
    for index, value in enumerate(inputs):
        assert torch.equal(results[f"input-{index}"].view(torch.uint8), value.view(torch.uint8))


def test_random_numbers_are_uniform(child: Child) -> None:
    child.add_fixture("random")
    response, results = child.replay("random", (torch.zeros(200),))
    assert response["status"] == "done", response
    values = results["0"]
    assert 0 <= values.min() < values.max() < 1
    assert abs(values.mean() - 0.5) < 0.1
