"""Which steps a plan keeps, how it numbers tensors, and what a constant becomes."""

from __future__ import annotations

import struct

import pytest

from harness.plan import ConstantStep, OpStep, Tensor
from tests.trace.conftest import Trace, ops

HEAD = """
import torch
import triton
import triton.language as tl

"""

# A kernel that is launched at import on a table that the call uses: kept only if it may write the table.
LAUNCHED_AT_IMPORT = {
    "tl.store(b + i, tl.load(a + i))": False,
    "tl.store(b + i, tl.load(a + 64 - i, mask=i > 3, other=0.0) + tl.sum(tl.load(a + i)))": False,
    "tl.static_assert(True)\n    for j in range(4):\n        tl.store(b + i, tl.load(a + i + j))": False,
    "tl.store(a + i, 1.0)": True,
    "tl.store(a + i * 2 + 1, tl.load(b + i))": True,
    "tl.atomic_add(a + i, 1.0)": True,
    "tl.store(tl.where(i > 2, a + i, b + i), 1.0)": True,
    "p = a + i\n    for j in range(4):\n        tl.store(p, 1.0)\n        p += 64": True,
    "p = b\n    if tl.load(b) > 0:\n        p = a\n    tl.store(p + i, 1.0)": True,
    "d = tl.make_tensor_descriptor(a, [64], [1], [64])\n    d.store([0], tl.load(b + i))": True,
    "tl.store((a.to(tl.int64) + 0 * i).to(tl.pointer_type(tl.float32)), 1.0)": True,
}


@pytest.mark.parametrize("body", LAUNCHED_AT_IMPORT)
def test_launch_at_import(trace: Trace, body: str) -> None:
    source = f"""{HEAD}
@triton.jit
def kernel(a, b):
    i = tl.arange(0, 64)
    {body}

TABLE = torch.ones(64, device="cuda")
kernel[(1,)](TABLE, torch.empty(64, device="cuda"))

def custom_kernel(data):
    return data[0] + TABLE
"""
    names = ops(trace(source, [64]).plan())
    expected = ["aten.empty.memory_format", "launch kernel"] if LAUNCHED_AT_IMPORT[body] else []
    assert names == ["aten.ones.default", *expected, "aten.add.Tensor"]


def test_what_nobody_uses_is_dropped(trace: Trace) -> None:
    source = f"""{HEAD}
def custom_kernel(data):
    (x,) = data
    unused = x + 1
    scratch = torch.zeros_like(x)
    scratch.add_(unused)
    y = x * 2
    half = y[: x.shape[0] // 2]
    y.view(-1)
    half.mul_(3)
    y[0]
    return y
"""
    plan = trace(source, [64]).plan()
    assert ops(plan) == ["aten.mul.Tensor", "aten.slice.Tensor", "aten.mul_.Tensor"]
    mul_ = plan.steps[-1]
    assert isinstance(mul_, OpStep)
    assert mul_.outs == (None,)
    assert plan.outputs == (1,)


def test_spoiled_inputs_show(trace: Trace) -> None:
    source = f"{HEAD}def custom_kernel(data):\n    data[0][3:].zero_()\n    return data[1] + 1\n"
    plan = trace(source, [64], [64]).plan()
    assert ops(plan) == ["aten.slice.Tensor", "aten.zero_.default", "aten.add.Tensor"]


def test_a_tensor_changed_in_form_gets_a_new_number(trace: Trace) -> None:
    source = f"{HEAD}def custom_kernel(data):\n    y = data[0].clone()\n    y.t_()\n    return y\n"
    plan = trace(source, [4, 8]).plan()
    assert ops(plan) == ["aten.clone.default", "aten.t_.default"]
    assert plan.tensors[plan.outputs[0]].shape == (8, 4)
    assert plan.tensors[plan.outputs[0]].strides == (1, 8)


def test_constants(trace: Trace) -> None:
    source = f"""{HEAD}
import numpy as np
A = torch.tensor([1.5, -2.0], device="cuda")
B = torch.tensor([3, 4]).cuda()
C = torch.from_numpy(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32).T).to("cuda")
D = torch.tensor([7.0, 8.0])
D[0] = 9.0
assert torch.tensor(4).item() == 4

def custom_kernel(data):
    return data[0] + A, data[0] + B, data[0] + C, data[0] + D.to("cuda"), data[0] + torch.tensor(0.5, device="cuda")
"""
    plan = trace(source, [2, 2]).plan()
    constants = [step.data for step in plan.steps if isinstance(step, ConstantStep)]
    assert constants[:2] == [struct.pack("<2f", 1.5, -2.0), struct.pack("<2q", 3, 4)]
    assert struct.pack("<2f", 7.0, 8.0) in constants
    assert constants[-1] == struct.pack("<f", 0.5)
    assert ops(plan).count("aten._to_copy.default") == 2  # C changes its form on the way, D's content was changed
    assert ops(plan).count("aten.fill_.Tensor") + ops(plan).count("aten.copy_.default") == 1


def test_lists_dtypes_and_scalars(trace: Trace) -> None:
    source = f"""{HEAD}
import numpy as np

def custom_kernel(data):
    x, y = data
    y = y * np.float32(0.5) if np.int64(3) else y
    parts = torch.split(torch.cat([x, y]), [100, 28])
    return [parts[0].to(torch.float16), torch.full_like(x, float("-inf"))]
"""
    plan = trace(source, [64], [64]).plan()
    assert plan.output_kind == "list"
    split = next(step for step in plan.steps if isinstance(step, OpStep) and "split" in step.op)
    assert split.args == (Tensor(3), (100, 28))
    assert [out is not None for out in split.outs] == [True, True]
    assert ("device", "cuda") not in [kwarg for step in plan.steps if isinstance(step, OpStep) for kwarg in step.kwargs]


def test_streams_and_events_do_nothing(trace: Trace) -> None:
    source = f"""{HEAD}
def custom_kernel(data):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0), torch.no_grad():
        y = data[0] + 1
    end.record()
    torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    assert start.elapsed_time(end) > 0
    return y
"""
    traced = trace(source)
    assert ops(traced.plan()) == ["aten.add.Tensor"]
    assert traced.warnings == ["the submission times something with CUDA events: every time it gets is 1.0 here"]


def test_tuple_arguments_come_one_by_one(trace: Trace) -> None:
    source = f"""{HEAD}
@triton.jit
def kernel(pair, n, FLAG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(pair[1] + i, tl.load(pair[0] + i) + n)

def custom_kernel(data):
    out = torch.empty_like(data[0])
    kernel[1,]((data[0], out), 5, FLAG=None)
    return out
"""
    traced = trace(source, [64])
    (launch,) = traced.plan().launches
    assert [(a.name, a.type, a.value) for a in launch.args] == [
        ("pair__0", "*fp32", Tensor(0)),
        ("pair__1", "*fp32", Tensor(1)),
        ("n", "i32", 5),
        ("FLAG", "constexpr", None),
    ]
    assert traced.kernel(launch)["params"] == ["*fp32", "*fp32", "i32"]
    assert launch.grid == (1, 1, 1)


HOST_CODE = """
import torch
import helion
import helion.language as hl

@helion.kernel(config=helion.Config(block_sizes=[64]), static_shapes=True)
def copy(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile]
    return out.view(
        16,
        -1,
    )

def custom_kernel(data):
    x = data[0] + 1
    return copy(x)
"""


def test_lines_of_host_code_are_the_kernels_own(trace: Trace) -> None:
    plan = trace(HOST_CODE).plan()
    lines = [step.line for step in plan.steps]
    assert dict(zip(ops(plan), lines, strict=True)) == {
        "aten.add.Tensor": 17,
        "aten.empty_like.default": 8,
        "launch _helion_copy": 18,
        "aten.view.default": 11,
    }
