"""What a kernel or a plan can do wrong: the status and the words of the response."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
import torch

from harness.plan import Argument, ConstantStep, LaunchStep, Named, OpStep, Plan, Tensor, encode_plan
from harness.replay.cpu_check import conclude

from .child import HEADER, KERNELS, Child, empty_keywords, metas

AT = "i = tl.arange(0, 64)\n"
X = torch.arange(100, dtype=torch.float32)
OUT = torch.empty(64)
FIRST_LINE = 6
CULPRITS = ("tl.load(", "d.load(", "tl.store(", "tl.atomic")

OUT_OF_BOUNDS = {
    "load": ("v = tl.load(x0 + i + 40)\ntl.store(y0 + i, v)", "load", "x0", 100, 100),
    "masked load": ("v = tl.load(x0 + i * 2, mask=i < 60)\ntl.store(y0 + i, v)", "load", "x0", 100, 100),
    "load before the start": ("v = tl.load(x0 + i - 3)\ntl.store(y0 + i, v)", "load", "x0", -3, 100),
    "store": ("tl.store(y0 + i * 2, 1.0)", "store", "y0", 64, 64),
    "atomic": ("tl.atomic_add(y0 + i + 1, 1.0)", "atomic", "y0", 64, 64),
    "compare and swap": ("j = y0.to(tl.pointer_type(tl.int32)) + 64\ntl.atomic_cas(j, 0, 1)", "atomic", "y0", 64, 64),
    "into a neighbour": (
        "d = (y0.to(tl.int64) - x0.to(tl.int64)) // 4\ntl.store(x0 + d + i, 1.0)",
        "store",
        "x0",
        None,
        100,
    ),
    "block pointer": (
        "p = tl.make_block_ptr(x0, (200,), (1,), (96,), (64,), (0,))\n"
        "tl.store(y0 + i, tl.load(p, boundary_check=(0,)))",
        *("load", "x0", 100, 100),
    ),
    "descriptor": (
        "d = tl.make_tensor_descriptor(x0, [20, 8], [8, 1], [16, 8])\nv = d.load([8, 0])\ntl.store(y0 + i, tl.sum(v))",
        *("load", "x0", 100, 100),
    ),
}


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_out_of_bounds_is_told_with_its_place(child: Child, name: str) -> None:
    body, action, argument, index, allocated = OUT_OF_BOUNDS[name]
    lines = (AT + body).split("\n")
    culprit = next(number for number, line in enumerate(lines) if any(word in line for word in CULPRITS))
    response, results = child.launch(AT + body, (X,), (OUT,))
    where = response["where"]
    assert response["status"] == "out_of_bounds", response
    assert (where["action"], where["argument"], where["allocated"]) == (action, argument, allocated)
    assert index is None or where["index"] == index
    assert (where["source_line"], where["source_text"]) == (FIRST_LINE + culprit, lines[culprit])
    assert (where["kernel"], where["program"], where["submission_line"]) == ("k", [0, 0, 0], 7)
    assert response["reason"].startswith(f"{action} of {argument}[")
    assert not results


def test_a_view_may_reach_its_whole_storage(child: Child) -> None:
    """A GPU allows it, so the bounds are those of the memory, not those of the view."""
    source = child.add_source(
        HEADER + "@triton.jit\ndef k(x, y):\n    i = tl.arange(0, 4)\n    tl.store(y + i, tl.load(x + i - 6))\n"
    )
    steps = (
        OpStep("aten.slice.Tensor", (Tensor(0), 0, 6, 10), (), (Tensor(1),)),
        OpStep("aten.empty.memory_format", ((4,),), empty_keywords(OUT), (Tensor(2),)),
        LaunchStep(
            "0" * 64,
            source,
            "k",
            (1, 1, 1),
            (Argument("x", "*fp32", Tensor(1)), Argument("y", "*fp32", Tensor(2))),
            "helion",
        ),
    )
    tensors = metas((torch.empty(10), torch.empty(4), torch.empty(4)))
    child.add_plan(Plan("view", tensors, (0,), (2,), "tensor", steps))
    response, results = child.replay("view", (X[:10],))
    assert response["status"] == "done", response
    assert results["0"].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_views_made_between_launches_share_their_memory(child: Child) -> None:
    source = child.add_source(
        HEADER + "@triton.jit\ndef k(x):\n    i = tl.arange(0, 4)\n    tl.store(x + i, tl.load(x + i) + 1)\n"
    )
    launch = "0" * 64, source, "k", (1, 1, 1)
    steps = (
        OpStep("aten.clone.default", (Tensor(0),), (), (Tensor(1),)),
        LaunchStep(*launch, (Argument("x", "*fp32", Tensor(1)),), "helion"),
        OpStep("aten.slice.Tensor", (Tensor(1), 0, 2, 6), (), (Tensor(2),)),
        LaunchStep(*launch, (Argument("x", "*fp32", Tensor(2)),), "helion"),
    )
    child.add_plan(Plan("views", metas((X[:10], X[:10], X[:4])), (0,), (1, 2), "tuple", steps))
    response, results = child.replay("views", (torch.zeros(10),))
    assert response["status"] == "done", response
    assert results["0"].tolist() == [1, 1, 2, 2, 1, 1, 0, 0, 0, 0]
    assert results["1"].tolist() == [2, 2, 1, 1]
    assert results["input-0"].eq(0).all()


def test_an_address_from_nowhere(child: Child) -> None:
    body = AT + "p = (x0.to(tl.int64) * 0 + 4096).to(tl.pointer_type(tl.float32))\ntl.store(y0 + i, tl.load(p + i))"
    response, _ = child.launch(body, (X,), (OUT,))
    assert response["status"] == "out_of_bounds"
    assert "outside of every tensor that the kernel was given" in response["reason"]


def test_unwritten_elements_show(child: Child) -> None:
    response, results = child.launch(AT + "tl.store(y0 + i, 1.0, mask=i < 60)", (), (OUT,))
    assert response["status"] == "done"
    assert results["0"][:60].eq(1).all()
    assert results["0"][60:].isnan().all()


def test_a_race_shows_because_programs_are_shuffled(child: Child) -> None:
    """Each program reads what the one before it wrote: in order, the result would be right."""
    body = "p = tl.program_id(0)\nbefore = tl.load(x0 + p)\ntl.store(x0 + p + 1, before + 1)"
    response, results = child.launch(body, (torch.zeros(65),), grid=(64, 1, 1), workers=1)
    assert response["status"] == "done"
    assert results["input-0"].tolist() != list(range(65))


def test_the_seed_decides_the_order(child: Child) -> None:
    body = "p = tl.program_id(0)\nn = tl.atomic_add(x0, 1)\ntl.store(y0 + n, p)"
    zero, out = torch.zeros(1, dtype=torch.int32), torch.empty(64, dtype=torch.int32)
    orders = [child.launch(body, (zero,), (out,), grid=(64, 1, 1), seed=s)[1]["0"].tolist() for s in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_program_ids_of_a_grid_with_three_dimensions(child: Child) -> None:
    body = (
        "x = tl.program_id(0)\ny = tl.program_id(1)\nz = tl.program_id(2)\n"
        "n = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x\ntl.store(y0 + n, x * 100 + y * 10 + z)"
    )
    response, results = child.launch(body, (), (torch.empty(24, dtype=torch.int32),), grid=(4, 3, 2))
    assert response["programs_run"] == response["programs_total"] == 24
    assert results["0"].tolist() == [x * 100 + y * 10 + z for z in range(2) for y in range(3) for x in range(4)]


@pytest.mark.parametrize("body", ["while True:\n    pass", "while tl.atomic_add(x0, 0) == 0:\n    pass"])
def test_an_endless_loop_is_cut_off(child: Child, body: str) -> None:
    started = time.monotonic()
    response, _ = child.launch(body, (torch.zeros(1, dtype=torch.int32),), grid=(2, 1, 1), time_limit_s=1.0)
    assert response["status"] == "timeout"
    assert "did not finish within 1 s" in conclude(response, 1.0).message
    assert time.monotonic() - started < 20


def test_programs_that_wait_for_one_another_take_turns(child: Child) -> None:
    body = "p = tl.program_id(0)\ntl.atomic_add(x0, 1)\nwhile tl.atomic_add(x0, 0) < 40:\n    pass\ntl.store(y0 + p, p)"
    inputs, outputs = (torch.zeros(1, dtype=torch.int32),), (torch.empty(40, dtype=torch.int32),)
    response, results = child.launch(body, inputs, outputs, grid=(40, 1, 1))
    assert response["status"] == "done", response
    assert results["0"].tolist() == list(range(40))


def test_too_many_programs_that_wait(child: Child) -> None:
    body = "while tl.atomic_add(x0, 1) < 0:\n    pass"
    response, _ = child.launch(body, (torch.zeros(1, dtype=torch.int32),), grid=(9000, 1, 1))
    assert response["status"] == "unsupported"
    assert "9000 programs that wait for one another" in response["reason"]


UNSUPPORTED = {
    "inline assembly": (
        "v = tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [i], dtype=tl.int32, is_pure=True, pack=1)",
        "inline assembly is not interpreted: mov.b32",
    ),
    "a type error": ("v = tl.load(i)", "the interpreter stopped: ValueError"),
    "an unknown libdevice function": ("v = libdevice.yn(i, x0)", "libdevice.yn"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_cannot_run_is_told(child: Child, name: str) -> None:
    body, words = UNSUPPORTED[name]
    response, _ = child.launch(AT + body, (X,), (OUT,))
    assert response["status"] == "unsupported", response
    assert words in response["reason"]


def test_a_failed_assumption_is_a_fault(child: Child) -> None:
    response, _ = child.launch(AT + "tl.assume(tl.max(i, 0) < 10)\ntl.store(y0 + i, 1.0)", (), (OUT,))
    assert (response["status"], response["where"]["source_line"]) == ("fault", FIRST_LINE + 1)
    assert response["reason"] == "tl.assume was given a condition that does not hold"


def host_plan(name: str, *steps: OpStep | ConstantStep, out: torch.Tensor = OUT) -> Plan:
    return Plan(name, metas((X, out)), (0,), (1,), "tensor", steps)


HOST = {
    "another namespace": (OpStep("prims.copy_to.default", (Tensor(0),), (), (Tensor(1),), 3), "prims.copy_to.default"),
    "a file": (OpStep("aten.from_file.default", ("/etc/passwd",), (), (Tensor(1),), 3), "aten.from_file.default"),
    "no such operator": (OpStep("aten.nothing.default", (Tensor(0),), (), (Tensor(1),), 3), "aten.nothing.default"),
    "no tensor": (OpStep("aten.equal.default", (Tensor(0), Tensor(0)), (), (Tensor(1),), 3), "does not execute"),
    "wrong arguments": (OpStep("aten.add.Tensor", (Tensor(0), "x"), (), (Tensor(1),), 3), "does not run on a CPU"),
    "another shape": (OpStep("aten.clone.default", (Tensor(0),), (), (Tensor(1),), 3), "another tensor than the plan"),
}


@pytest.mark.parametrize("name", HOST)
def test_hostile_host_programs(child: Child, name: str) -> None:
    step, words = HOST[name]
    plan = host_plan(f"host-{name.replace(' ', '-')}", step)
    child.add_plan(plan)
    response, _ = child.replay(plan.shape_id, (X,))
    # A form that no device would give is the plan's own fault.
    assert response["status"] == ("fault" if name == "another shape" else "unsupported"), response
    assert words in response["reason"]
    assert response["where"]["submission_line"] == 3


def test_host_operations_and_constants(child: Child) -> None:
    steps = (
        ConstantStep(Tensor(1), torch.arange(100, dtype=torch.float32).numpy().tobytes()),
        OpStep("aten.mul.Tensor", (Tensor(0), 2.0), (), (Tensor(2),)),
        OpStep("aten.add_.Tensor", (Tensor(2), Tensor(1)), (("alpha", 3),), (None,)),
        OpStep("aten._to_copy.default", (Tensor(2),), (("dtype", Named("dtype", "bfloat16")),), (Tensor(3),)),
        OpStep("aten.t.default", (Tensor(3),), (), (Tensor(4),)),
    )
    tensors = metas((X, X, X, X.bfloat16(), X.bfloat16()))
    child.add_plan(Plan("host", tensors, (0,), (4,), "tensor", steps))
    response, results = child.replay("host", (X,))
    assert response["status"] == "done", response
    assert torch.equal(results["0"], (X * 2 + X * 3).bfloat16())
    assert torch.equal(results["input-0"], X)


def test_a_broken_plan_and_a_missing_one(child: Child) -> None:
    document = encode_plan(host_plan("broken"))
    child.add_document("broken", document | {"format": 99})
    assert child.replay("broken", (X,))[0]["status"] == "fault"
    response, _ = child.replay("missing", (X,))
    assert (response["status"], response["reason"]) == (
        "fault",
        "the plan of missing cannot be read: FileNotFoundError",
    )


@pytest.mark.parametrize("name", ["../escape", "/etc/passwd", ".hidden", "a/b"])
def test_a_request_cannot_leave_its_folders(child: Child, name: str) -> None:
    request = {"id": 1, "shape_id": name, "inputs": name, "outputs": name, "time_limit_s": 1}
    response = child.ask(request)
    assert (response["status"], response["reason"]) == (
        "fault",
        "a request names a file outside of the scratch directory",
    )


def test_inputs_that_do_not_fit_the_plan(child: Child) -> None:
    child.add_plan(host_plan("fitting", OpStep("aten.clone.default", (Tensor(0),), (), (Tensor(1),)), out=X))
    assert child.replay("fitting", (X,))[0]["status"] == "done"
    assert "input 0 is torch.float64" in child.replay("fitting", (X.double(),))[0]["reason"]
    assert "holds 2 tensors, the plan takes 1" in child.replay("fitting", (X, X.clone()))[0]["reason"]


def test_inputs_get_the_strides_of_the_plan(child: Child) -> None:
    document = encode_plan(host_plan("strided", OpStep("aten.clone.default", (Tensor(0),), (), (Tensor(1),))))
    document["tensors"] = [[[4, 6], [1, 4], "float32", 0]] * 2
    child.add_document("strided", document)
    value = torch.randn(4, 6)
    response, results = child.replay("strided", (value,))
    assert response["status"] == "done", response
    assert response["outputs"][0] == {"shape": [4, 6], "strides": [1, 4], "dtype": "float32", "input": None}
    assert torch.equal(results["0"], value)


def test_nothing_a_kernel_prints_can_pass_for_a_response(child: Child) -> None:
    forged = json.dumps({"id": 1, "status": "done"})
    body = AT + f"tl.device_print('{forged}', i)\ntl.store(y0 + i, 1.0)"
    response, results = child.launch(body, (), (OUT,))
    assert response["status"] == "done"
    assert results["0"].eq(1).all()


def test_another_triton_is_refused(tmp_path) -> None:
    code = (
        "import runpy, sys, triton\ntriton.__version__ = '3.8.0'\n"
        "sys.argv = ['cpu', '.', '.']\nrunpy.run_module('harness.replay.cpu', run_name='__main__')"
    )
    request = {"id": 1, "shape_id": "x", "inputs": "x", "outputs": "x", "time_limit_s": 1}
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(request), env=environment, capture_output=True, text=True
    )
    response = json.loads(run.stdout)
    assert response["status"] == "unsupported"
    assert response["reason"] == "CPU replay knows the interpreter of Triton 3.7.1; this is 3.8.0"


def test_sampled_programs_mark_what_they_stored(child: Child) -> None:
    body = "p = tl.program_id(0)\ni = p * 16 + tl.arange(0, 16)\ntl.store(y0 + i, i.to(tl.float32), mask=i < 1590)"
    response, results = child.launch(
        body, (), (torch.empty(1600),), grid=(100, 1, 1), programs={"sample": 10, "seed": 5}
    )
    assert response["status"] == "done", response
    assert (response["programs_run"], response["programs_total"]) == (10, 100)
    stored = results["stored-0"]
    assert stored.dtype == torch.bool
    assert stored.sum() == 10 * 16 - 10
    assert stored[:16].all(), "the first program is always among them"
    assert stored[-16:-10].all(), "the last program is always among them"
    assert torch.equal(results["0"][stored], torch.arange(1600.0)[stored])
    assert results["0"][~stored].isnan().all()


def test_a_launch_whose_result_is_used_runs_in_full(child: Child) -> None:
    child.add_fixture("softmax_two_pass")
    document = json.loads((KERNELS / "softmax_two_pass.json").read_text())
    out = len(document["tensors"])
    document["tensors"].append(document["tensors"][document["outputs"][0]])
    document["steps"].append(
        {
            "op": "aten.clone.default",
            "args": [{"tensor": document["outputs"][0]}],
            "kwargs": {},
            "outs": [out],
            "line": 1,
        }
    )
    document["outputs"] = [out]
    child.add_document("used", document)
    x = torch.randn(37, 100)
    response, results = child.replay("used", (x,), programs={"sample": 3, "seed": 1})
    assert (response["programs_run"], response["programs_total"]) == (10, 10)
    assert results["stored-0"].all()
    torch.testing.assert_close(results["0"], x.softmax(1))


def test_a_sampled_view_of_a_generated_output(child: Child) -> None:
    child.add_fixture("softmax_two_pass")
    x = torch.randn(37, 100)
    response, results = child.replay("softmax_two_pass", (x,), programs={"sample": 3, "seed": 1})
    assert (response["programs_run"], response["programs_total"]) == (3, 10)
    stored = results["stored-0"]
    assert 0 < stored.sum() < stored.numel()
    torch.testing.assert_close(results["0"][stored], x.softmax(1)[stored])


def test_atomics_are_never_sampled(child: Child) -> None:
    child.add_fixture("atomics")
    indices = torch.randint(0, 16, (200,))
    response, results = child.replay("atomics", (indices,), programs={"sample": 2, "seed": 1})
    assert response["programs_run"] == 7
    assert results["stored-0"].all()
    assert torch.equal(results["0"].long(), indices.bincount(minlength=16))


def test_a_launch_that_was_late_is_told_with_its_limit():
    checked = conclude({"status": "timeout"}, 20.0)
    assert (checked.status, checked.reason) == ("not_run", "too_slow_on_cpu")
    assert checked.message.startswith("it did not finish within 20 s: instructions are interpreted here")
