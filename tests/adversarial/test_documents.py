"""Documents and IR by hand: what a tracer that is wholly the attacker's may write."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from harness.engine.trace_progress import MAX_WARNINGS, read_warnings
from harness.engine.trace_results import TraceResults
from harness.engine.worker import WorkerJob
from harness.errors import ArtifactError, HarnessError, SubmissionError, WorkerError
from harness.plan import Argument, LaunchStep, OpStep, Plan, Tensor, TensorMeta, parse_plan
from harness.policy import check_plan
from harness.policy.operators import _OPERATORS, Role
from harness.sandbox import HOST_DISK, Exit
from harness.submission import MAX_MAIN_BYTES, load_submission
from tests.core.test_assemble import COPY, assemble
from tests.core.test_plan_format import document

META = TensorMeta((4, 4), (4, 1), "float32")


@pytest.mark.parametrize("place", ["format", "shape_id", "output_kind", "tensors", "inputs"])
def test_a_document_as_deep_as_json_goes_is_refused(place: str) -> None:
    refused = 0
    for depth in range(600, 1000):
        text = json.dumps({**document(), place: "DEEP"}).replace('"DEEP"', "[" * depth + "]" * depth)
        try:
            found = json.loads(text)
        except RecursionError:
            break
        with pytest.raises(ArtifactError):
            parse_plan(found)
        refused += 1
    assert refused


def test_no_operator_gives_back_memory_that_the_policy_takes_for_new() -> None:
    for name, role in _OPERATORS.items():
        _, packet, overload = name.split(".")
        schema = getattr(getattr(torch.ops.aten, packet), overload)._schema
        aliases = [r.alias_info for r in schema.returns if r.alias_info is not None]
        writes = [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        if role in (Role.FILL, Role.COPY_INTO):
            assert writes == [schema.arguments[0].name], name
        else:
            assert not writes, name
            assert role is Role.VIEW or not aliases, name


@pytest.mark.parametrize(
    "step",
    [
        OpStep("aten.view.default", (), (("self", Tensor(0)), ("size", (16,))), (Tensor(1),)),
        OpStep("aten.fill_.Scalar", (), (("self", Tensor(0)), ("value", 1.0)), (None,)),
        OpStep("aten.fill_.Scalar", (Tensor(0), Tensor(0)), (), (None,)),
        OpStep("aten.select.int", (Tensor(0), 0, Tensor(0)), (), (Tensor(1),)),
        OpStep("aten.copy_.default", (Tensor(0),), (("src", Tensor(0)), ("non_blocking", Tensor(0))), (None,)),
        OpStep("aten.copy_.default", (Tensor(0), 1.0), (), (None,)),
    ],
    ids="view fill number index flag nothing".split(),
)
@pytest.mark.parametrize("division", ["closed", "open"])
def test_tensors_stand_where_torch_records_them(step: OpStep, division: str) -> None:
    plan = Plan("S", (META, META), (0,), (0,), "tensor", (step,))
    assert "host_operation" in [violation.reason for violation in check_plan(plan, division)]


def test_a_tensor_that_no_kernel_is_passed_is_nobodys_work() -> None:
    launch = LaunchStep("a" * 64, "b" * 64, "k", (1, 1, 1), (Argument("a", "constexpr", Tensor(1)),), "helion")
    copied = OpStep("aten.clone.default", (Tensor(0),), (), (Tensor(1),))
    plan = Plan("S", (META, META), (0,), (1,), "tensor", (copied, launch))
    assert [violation.reason for violation in check_plan(plan, "closed")] == ["output_not_from_kernel"]


def test_gaps_between_elements_are_memory_too() -> None:
    wide = TensorMeta((2,), (1 << 35,), "float32")
    made = OpStep("aten.empty_strided.default", ((2,), (1 << 35,)), (), (Tensor(1),))
    plan = Plan("S", (META, wide), (0,), (0,), "tensor", (made,))
    assert "too_many_memory" in [violation.reason for violation in check_plan(plan, "open")]


ASSEMBLY = 'module attributes {llvm.module_asm = ["x"]} {'
SAID = {
    COPY.replace("module {", ASSEMBLY): "llvm.module_asm",
    COPY.replace("module {", ASSEMBLY.replace("llvm.module_asm", '"llvm.module_asm"')): "llvm.module_asm",
    COPY.replace("module {", ASSEMBLY.replace("{llvm", '{tt.a = "\\22 = ", llvm')): "llvm.module_asm",
    "module {\n" + COPY.replace("module {", ASSEMBLY) + "}": "llvm.module_asm",
    COPY.replace("module {", 'module attributes {"ttg.total-num-warps" = 64 : i32} {'): "ttg.total-num-warps",
    COPY.replace("module {", "module @named {"): "attributes of a module",
    COPY.replace("noinline = false", "noinline = false, nvvm.maxntid = array<i32: 1>"): "nvvm.maxntid",
    COPY.replace("noinline = false", 'passthrough = ["naked"]'): "attributes of a function",
    COPY.replace("%n: i32)", "%n: i32 {llvm.noundef})"): "llvm.noundef",
    COPY.replace("{end = 256", "{llvm.any = 1 : i32, end = 256"): "llvm.any",
}


def test_nothing_is_said_to_later_stages_of_the_compiler(tmp_path: Path) -> None:
    ends, _ = assemble(tmp_path, [(ir, {}) for ir in SAID])
    for end, told in zip(ends, SAID.values(), strict=True):
        assert end["event"] == "failed"
        assert end["reason"] == "refused_operation", end
        assert told in end["message"]


def test_facts_that_no_launch_takes_are_the_kernels_fault(tmp_path: Path) -> None:
    many = COPY.replace("%n: i32)", "%n: i32, " + ", ".join(f"%p{i}: i32" for i in range(600)) + ")")
    ends, _ = assemble(tmp_path, [(COPY.replace("@copy", "@" + "n" * 300), {}), (many, {}), (COPY, {})])
    assert [end["event"] for end in ends] == ["failed", "failed", "assembled"]


def test_results_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"0" * 1000)
    results = TraceResults(tmp_path, left_bytes=2500)
    results.read("a", 1000)
    with pytest.raises(WorkerError, match="999 at most"):
        results.read("b", 999)
    results.read("b", 1000)
    with pytest.raises(ArtifactError, match="together"):
        results.read("c", 1000)


def test_warnings_are_few_and_clean() -> None:
    found = read_warnings([f"\x1b[31m{i}" for i in range(1000)])
    assert found == [str(i) for i in range(MAX_WARNINGS)]


def test_a_source_that_would_fill_the_parsers_memory_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "submission.py"
    path.write_text("x = [" + "a," * (MAX_MAIN_BYTES // 2) + "]")
    with pytest.raises(SubmissionError, match="262,144 are allowed"):
        load_submission(path, "acme")


def test_a_disk_that_others_filled_is_our_fault(tmp_path: Path) -> None:
    job = SimpleNamespace(wait=lambda: Exit(0, None, HOST_DISK, 1.0, 1.0, "No space left on device", 0))
    with pytest.raises(HarnessError, match="the disk is full at .*: free some space"):
        WorkerJob(job, tmp_path).wait()
