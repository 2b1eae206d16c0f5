"""The node's file, its documents, and the judge's side of a runner: everything that needs no GPU."""

import dataclasses
import json
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.case import load_cases
from harness.errors import HarnessError, SpecError, WorkerError
from harness.plan import OpStep, Plan, Tensor, TensorMeta, row_major
from harness.replay.compare import compare_output
from harness.replay.gpu.faults import DriverError, GpuError, blame, describe
from harness.replay.gpu.host import run_operator
from harness.replay.gpu.layout import ALIGN, lay_out, make_shared_file
from harness.replay.gpu.regions import Region, cut_into_tiles, find_gaps, join_touching
from harness.replay.inputs import Received, Request, make_sample
from harness.replay.node import acceptance, pack
from harness.replay.node.acceptance import accepts
from harness.replay.node.case_layout import lay_out_case
from harness.replay.node.confinement import find_devices
from harness.replay.node.judging import GpuJudge, hold_the_same
from harness.replay.node.node_report import CaseRequest, NodeRequest, encode_request, parse_report, parse_request
from harness.replay.node.problem_document import load_problem_document, write_problem_document
from harness.replay.node.runner_process import RunnerProcess
from harness.replay.place import AxisLabel
from harness.replay.reference import load_reference
from harness.replay.ruling import rule
from harness.sandbox import Level, best_level, why_not
from harness.spec import Tolerance, load_problem

HERE = Path(__file__).parent
SCALE = HERE / "workspace" / "problems" / "scale"
SHAPE = {"M": 16, "N": 64}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("node") / "node.pyz"
    pack.build_node(path)
    return path


@pytest.fixture
def exported(tmp_path):
    write_problem_document(load_problem(SCALE), [SHAPE], tmp_path / "problem")
    return tmp_path / "problem"


def run(archive, *arguments, isolated=False):
    command = [sys.executable, *(["-I", "-S"] if isolated else []), str(archive), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


# The file


def test_the_node_imports_torch_cuda_bindings_cupti_and_the_standard_library_only():
    modules = pack.find_modules()
    assert pack.foreign_packages(modules) <= pack.ALLOWED
    assert {"replay.gpu.runner", "replay.node.replaying", "plan.parse", "artifact"} <= set(modules)
    assert not any(name.startswith(("spec", "trace", "assemble", "store", "replay.cpu", "cli")) for name in modules)


def test_a_new_import_is_found_when_the_file_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "ALLOWED", frozenset({"torch", "cuda"}))
    with pytest.raises(HarnessError, match="import cupti, which a node need not have"):
        pack.build_node(tmp_path / "node.pyz")


def test_the_file_is_small_and_holds_no_test_or_submission(archive):
    names = zipfile.ZipFile(archive).namelist()
    assert archive.stat().st_size < 200_000
    assert all(name.startswith("harness/") or name == "__main__.py" for name in names)


def test_no_torch_there(archive, exported, tmp_path):
    """Without site-packages there is no torch: the node says so in one line."""
    case = CaseRequest("test/a", "M16_N64", SHAPE, "normal", False, 3.0)
    (tmp_path / "request.json").write_text(json.dumps(encode_request(NodeRequest((case,)))))
    result = run(archive, "replay", tmp_path, exported, tmp_path / "request.json", isolated=True)
    assert result.returncode == 3
    assert json.loads(result.stdout)["message"].startswith("torch is not installed here")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu_there(archive):
    result = run(archive, "describe")
    assert result.returncode == 3
    assert json.loads(result.stdout)["message"].startswith("no GPU that torch can use")


def test_a_wrong_command(archive):
    result = run(archive, "dance", isolated=True)
    assert (result.returncode, json.loads(result.stdout)["event"]) == (2, "error")


SANDBOXED = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, "node.pyz")
from harness.sandbox import Level, Limits, start
with start([sys.executable, "-c", "import sys; sys.exit(42)"], level=Level.NONE, scratch=Path(tempfile.mkdtemp()),
           limits=Limits(20, None, 1 << 30, 8, 1 << 20, 1 << 20)) as job:
    print(job.wait().code)
"""


def test_a_file_named_by_a_relative_path_can_start_its_runner(archive):
    done = subprocess.run([sys.executable, "-c", SANDBOXED], cwd=archive.parent, capture_output=True, text=True)
    assert done.stdout.strip() == "42", done.stderr[-2000:]


# Documents


def test_a_problem_travels(exported):
    problem, document = load_problem(SCALE), load_problem_document(exported)
    assert document.input_sizes(SHAPE) == problem.input_sizes(SHAPE)
    assert document.output_sizes(SHAPE) == problem.output_sizes(SHAPE)
    assert document.tolerance_of("y").rtol == problem.tolerance_of("y").rtol
    assert document.distribution_names == problem.distribution_names
    assert (exported / "reference.py").read_bytes() == (SCALE / "reference.py").read_bytes()


def test_a_problem_judges_the_same_on_the_other_side(exported):
    request = Request((("M", 16), ("N", 64)), "normal", 7)
    judgements = []
    for problem in (load_problem(SCALE), load_problem_document(exported)):
        sample = make_sample(load_reference(problem), request)
        wrong = sample.expected[0].to(torch.float32)
        wrong[3, 5] += 1
        judgements.append(rule(problem, sample, Received((wrong,), dict(enumerate(sample.inputs)))))
    assert judgements[0] == judgements[1]
    assert judgements[0].reason == "wrong_values"


def test_documents_that_are_none(exported, tmp_path):
    document = load_problem_document(exported)
    with pytest.raises(SpecError, match="no sizes of x for"):
        document.input_sizes({"M": 1, "N": 16})
    with pytest.raises(SpecError, match="No such file"):
        load_problem_document(tmp_path)
    (exported / "problem.json").write_text('{"format": 1}')
    with pytest.raises(SpecError, match="not a problem document"):
        load_problem_document(exported)
    (exported / "problem.json").write_text('{"format": 99}')
    with pytest.raises(SpecError, match="export the problem again"):
        load_problem_document(exported)


def test_requests_travel():
    case = CaseRequest("test/a", "M16_N64", SHAPE, "normal", True, 3.0, 50)
    assert parse_request(json.loads(json.dumps(encode_request(NodeRequest((case,)))))) == NodeRequest((case,))


def recorded(name):
    """A report as an H200 gave it, and the cases that it was asked for."""
    lines = (HERE / "recorded" / f"{name}.jsonl").read_text().splitlines()
    document = next(e["report"] for e in map(json.loads, lines) if e["event"] == "report")
    cases = load_cases(load_problem(SCALE))
    return document, [CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, c.role == "benchmark", 3.0) for c in cases]


def test_a_real_report_is_read():
    document, cases = recorded("honest")
    report = parse_report(document, cases)
    assert report.machine["gpu"] == "NVIDIA H200"
    assert [case.status for case in report.cases] == ["passed"] * 4
    assert len(report.cases[2].samples.spans_us) == len(report.cases[2].samples.witness_us) == 100


def timed(number):
    """As many samples of both clocks."""
    return {"spans_us": [2.0] * number, "witness_us": [5.0] * number}


@pytest.mark.parametrize(("asked", "given"), [(0, 64), (0, 208), (1, 1), (50, 50), (400, 400)])
def test_a_case_has_as_many_samples_as_were_asked_for(asked, given):
    document, cases = recorded("honest")
    cases = [dataclasses.replace(case, samples=asked if case.timed else 0) for case in cases]
    for report in document["cases"]:
        if report["samples"]:
            report["samples"].update(timed(given))
    assert len(parse_report(document, cases).cases[2].samples.spans_us) == given
    for wrong in (given - 1, given + 1) if asked else ():
        document["cases"][2]["samples"].update(timed(wrong))
        with pytest.raises(WorkerError, match=f"a case has {wrong} samples, not {asked}$"):
            parse_report(document, cases)


def spoil(change):
    document, cases = recorded("honest")
    change(document)
    with pytest.raises(WorkerError) as caught:
        parse_report(document, cases)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.clear(), "not of its form"),
        (lambda d: d.update(format=2), "update the node"),
        (lambda d: d["cases"].pop(), "not about the cases"),
        (lambda d: d["cases"][0].update(id="benchmark/other"), "not about the cases"),
        (lambda d: d["cases"][0].update(status="great"), "unknown status"),
        (lambda d: d["cases"][0].update(message=5), "not of its form: TypeError a text is missing"),
        (lambda d: d["cases"][0].update(seconds=float("nan")), "out of range"),
        (lambda d: d["cases"][0].update(calls=-1), "out of range"),
        (lambda d: d["cases"][0].update(seeds=["a"]), "out of range"),
        (lambda d: d["cases"][0].update(judgement=[]), "not of its form"),
        (lambda d: d["cases"][0]["judgement"].update(status="great"), "a judgement has an unknown status or reason"),
        (lambda d: d["cases"][0]["judgement"].update(reason="envy"), "a judgement has an unknown status or reason"),
        (lambda d: d["cases"][0]["judgement"].update(message=None), "a text is missing"),
        (lambda d: d["cases"][0]["judgement"].update(outputs={}), "a list is missing or too long"),
        (lambda d: d["cases"][0]["judgement"]["outputs"][0].update(max_abs=10**400), "a number is too large"),
        (lambda d: d["cases"][0]["judgement"]["outputs"][0].update(max_abs="1"), "a number is missing"),
        (lambda d: d["cases"][0]["judgement"]["outputs"][0].update(total_elements=-1), "a count is missing or out of"),
        (lambda d: d["cases"][2]["samples"].update(spans_us=[1.0]), "different numbers of samples"),
        (lambda d: d["cases"][2]["samples"]["spans_us"].__setitem__(0, "fast"), "out of range"),
        (lambda d: d["cases"][2]["samples"]["spans_us"].__setitem__(0, -1.0), "out of range"),
        (lambda d: d["cases"][2]["samples"]["spans_us"].__setitem__(0, 0.0), "no time that a clock shows"),
        (lambda d: d["cases"][2]["samples"]["witness_us"].__setitem__(0, 0), "no time that a clock shows"),
        (lambda d: d["cases"][2]["samples"]["spans_us"].__setitem__(0, 1e10), "no time that a clock shows"),
        (lambda d: d["cases"][2]["samples"].update(timed(0)), "a case has 0 samples, not 64 to 208"),
        (lambda d: d["cases"][2]["samples"].update(timed(63)), "a case has 63 samples, not 64 to 208"),
        (lambda d: d["cases"][2]["samples"].update(timed(209)), "a case has 209 samples, not 64 to 208"),
        (lambda d: d["cases"][0].update(samples=d["cases"][2]["samples"]), "samples that was not to be timed"),
        (lambda d: d["clocks"].update(sm_mhz_median=10**400), "a number is missing or out of range"),
        (lambda d: d.update(machine={"gpu": ["list"]}), "out of range"),
        (lambda d: d.update(machine={f"fact{i}": 1 for i in range(100)}), "too many facts"),
    ],
)
def test_a_hostile_report_is_refused(change, told):
    assert told in spoil(change)


def test_long_texts_are_cut():
    document, cases = recorded("wrong")
    document["cases"][0]["message"] = "x" * 1_000_000
    assert len(parse_report(document, cases).cases[0].message) == 4000


# The exchange


def test_parts_do_not_overlap():
    parts, end = lay_out([("float32", (3, 5)), ("bool", (7,)), ("float64", (0,)), ("bfloat16", (1000,))])
    for before, after in zip(parts, parts[1:], strict=False):
        assert before.offset % ALIGN == 0
        assert before.offset + before.size_bytes <= after.offset
    assert parts[-1].offset + parts[-1].size_bytes <= end


def test_buffers_are_not_sent():
    problem = load_problem(HERE.parents[1] / "problems" / "fp8_quant")
    layout = lay_out_case(problem, {"tokens": 4, "hidden": 512, "group": 128})
    assert [part is None for part in layout.inputs] == [False, True, True]
    assert len(layout.outputs) == 2


# The arena

MIB = 1 << 20


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 20, [(0, 20)]),
        (5, 20, [(5, 20)]),
        (0, 32, [(0, 32)]),
        (0, 33, [(0, 32), (32, 33)]),
        (5, 40, [(5, 32), (32, 40)]),
        (32, 96, [(32, 96)]),
        (31, 129, [(31, 32), (32, 128), (128, 129)]),
    ],
)
def test_memory_is_cut_where_the_poison_begins_anew(start, end, expected):
    origin = 7 * MIB
    parts = cut_into_tiles(Region(origin + start * MIB, origin + end * MIB), origin)
    assert [((p.start - origin) // MIB, (p.end - origin) // MIB) for p in parts] == expected


def test_regions_that_touch_are_one():
    regions = [Region(40, 50), Region(10, 20), Region(20, 30), Region(51, 60), Region(30, 40)]
    assert join_touching(regions) == [Region(10, 50), Region(51, 60)]
    assert join_touching([]) == []


def test_what_lies_between_tensors_is_found_in_whole_words():
    gaps = find_gaps(Region(100, 200), [(100, 110), (112, 121), (150, 200)])
    assert [(gap.start, gap.end) for gap in gaps] == [(124, 148)]
    assert list(find_gaps(Region(100, 200), [])) == [Region(100, 200)]


@given(st.lists(st.integers(0, 400), max_size=12, unique=True).map(sorted))
def test_what_lies_between_gaps_is_the_tensors_and_the_words_that_they_begin_and_end_in(edges):
    pool, tensors = Region(1000, 1400), [(1000 + a, 1000 + b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    gaps = [(gap.start, gap.end) for gap in find_gaps(pool, tensors)]
    own = [(part.start, part.end) for part in find_gaps(pool, gaps)]
    covered = sorted([*gaps, *own])
    assert [start for start, _ in covered] == [1000, *(end for _, end in covered[:-1])]
    assert covered[-1][1] == 1400
    assert all(any(low <= start and end <= high for low, high in own) for start, end in tensors if end > start)


# The judge's shortcuts


def sample_of(seed=1):
    problem = load_problem(SCALE)
    return problem, make_sample(load_reference(problem), Request((("M", 16), ("N", 64)), "normal", seed))


def accepts_outputs(problem, sample, *outputs):
    return bool(accepts(problem, sample, Received(outputs, {})))


@pytest.mark.parametrize("off", [0.0, 0.5, 0.99, 1.01, 50.0, float("nan"), float("inf")])
def test_the_fast_path_says_what_the_ruling_says(off):
    problem, sample = sample_of()
    got = sample.expected[0].to(torch.float64).clone()
    tolerance = problem.tolerance_of("y")
    got[2, 7] += off * (tolerance.atol + tolerance.rtol * got[2, 7].abs())
    sample = type(sample)(sample.request, sample.inputs, (sample.expected[0],))
    received = Received((got,), dict(enumerate(sample.inputs)))
    assert bool(accepts(problem, sample, received)) == rule(problem, sample, received).passed


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_the_fast_path_accepts_nothing_where_the_reference_is_not_finite(value):
    problem, sample = sample_of()
    sample.expected[0][2, 7] = value
    for got in (sample.expected[0].clone(), torch.zeros_like(sample.expected[0])):
        assert not accepts_outputs(problem, sample, got)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float16", "bfloat16", "int32"])
def test_the_fast_path_takes_outputs_of_any_type(dtype):
    problem, sample = sample_of()
    got = sample.expected[0].to(getattr(torch, dtype))
    exact = type(sample)(sample.request, sample.inputs, (got.to(torch.float64),))
    assert accepts_outputs(problem, exact, got)
    assert not accepts_outputs(problem, exact, (exact.expected[0] * 8 + 4).to(got.dtype))


def test_bytes_that_nobody_wrote_are_no_bool():
    """torch takes every byte but 0 for True, and no byte of the arena's poison is 0."""
    written = torch.tensor([True, False, True, True]).repeat(4)
    expected = written.to(torch.float64)
    unwritten = written.clone()
    unwritten.view(torch.uint8)[12:] = 0xF9
    tolerance, axes = Tolerance(rtol=0, atol=0), (AxisLabel("i", 16),)
    for got, wrong in ((written, 0), (unwritten, 4)):
        assert compare_output(got, expected, tolerance, name="o", axes=axes).report.wrong_elements == wrong
        problem, sample = sample_of()
        problem = SimpleNamespace(outputs=problem.outputs, tolerance_of=lambda _: tolerance)
        sample = type(sample)(sample.request, sample.inputs, (expected,))
        assert accepts_outputs(problem, sample, got) is (wrong == 0)


def test_a_plan_that_wants_its_inputs_in_another_layout_is_refused(exported):
    judge = GpuJudge(load_problem_document(exported))
    sizes = judge.problem.input_sizes(SHAPE)
    rows = [
        TensorMeta(size, row_major(size), spec.dtype) for size, spec in zip(sizes, judge.problem.inputs, strict=True)
    ]
    output = TensorMeta((16, 64), (64, 1), "float32")
    numbers = tuple(range(len(rows)))

    def plan(inputs):
        return Plan("M16_N64", (*inputs, output), numbers, (len(rows),), "tensor", ())

    assert judge.check_plan(plan(rows), SHAPE) is None
    turned = [TensorMeta(meta.shape, meta.strides[::-1], meta.dtype) for meta in rows]
    with pytest.raises(GpuError, match="takes other inputs than the problem has"):
        judge.check_plan(plan(turned), SHAPE)


def test_the_fast_path_knows_the_cap_on_the_relative_error():
    problem = load_problem(HERE.parents[1] / "problems" / "chunk_fwd_h")
    request = Request((("B", 1), ("H", 1), ("K", 64), ("T", 128), ("V", 64)), "model", 3)
    sample = make_sample(load_reference(problem), request)
    for scale, passes in ((1.0, True), (1.0 + 4e-3, False)):
        outputs = tuple((expected * scale).to(torch.float32) for expected in sample.expected)
        received = Received(outputs, dict(enumerate(sample.inputs)))
        assert rule(problem, sample, received).passed is passes
        assert accepts_outputs(problem, sample, *outputs) is passes


@pytest.mark.parametrize("dtype", sorted(acceptance._EIGHT_BITS, key=str))
def test_the_quick_way_loses_nothing_of_eight_bits(dtype):
    every = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype)
    through_half, exact = every.to(torch.float16).to(torch.float64), every.to(torch.float64)
    assert torch.equal(through_half.isnan(), exact.isnan())
    assert torch.equal(through_half.nan_to_num(1.0, 2.0, 3.0), exact.nan_to_num(1.0, 2.0, 3.0))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "int32", "float8_e4m3fn", "bool"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (1000,), (64, 33)])
def test_the_fast_path_sees_one_bit_of_an_input(dtype, shape):
    problem, sample = sample_of()
    sent = torch.zeros(shape).to(getattr(torch, dtype))
    sample = type(sample)(sample.request, (sample.inputs[0], sent), sample.expected)
    for place in {0, sent.nbytes // 2, sent.nbytes - 1}:
        after = sent.clone()
        received = Received((sample.expected[0],), {0: sample.inputs[0].clone(), 1: after})
        assert bool(accepts(problem, sample, received))
        after.reshape(-1).view(torch.uint8)[place] ^= 1
        assert not bool(accepts(problem, sample, received)), place


@pytest.mark.parametrize(
    "sent",
    [
        torch.arange(9.0)[1:],
        torch.zeros(12, dtype=torch.bfloat16)[2:10],
        torch.zeros(3, 5)[1:],
        torch.arange(15.0).split([7, 8])[1],
        torch.tensor(1.0).expand(1),
        torch.zeros(3, 8)[:, ::8][:1],
        torch.arange(9, dtype=torch.uint8)[1:],
    ],
)
def test_the_fast_path_takes_inputs_that_begin_anywhere_in_their_memory(sent):
    """A reference may make an input as a part of something larger, as long as it is contiguous."""
    assert sent.is_contiguous()
    problem, sample = sample_of()
    sample = type(sample)(sample.request, (sent,), sample.expected)
    same = torch.empty(sent.shape, dtype=sent.dtype).copy_(sent)
    assert bool(accepts(problem, sample, Received((sample.expected[0],), {0: same})))
    same.reshape(-1)[-1] += 1
    assert not bool(accepts(problem, sample, Received((sample.expected[0],), {0: same})))


def test_the_fast_path_compares_bits_and_not_values():
    problem, sample = sample_of()
    for sent, after in ((0.0, -0.0), (float("nan"), float("nan"))):
        one = type(sample)(sample.request, (torch.tensor([sent]),), sample.expected)
        received = Received((sample.expected[0],), {0: torch.tensor([after])})
        assert bool(accepts(problem, one, received)) is (sent != 0)


def test_the_fast_path_takes_inputs_of_no_elements_and_none_at_all():
    problem, sample = sample_of()
    empty = type(sample)(sample.request, (torch.zeros(0, 5),), sample.expected)
    assert bool(accepts(problem, empty, Received((sample.expected[0],), {0: torch.zeros(0, 5)})))
    assert accepts_outputs(problem, empty, sample.expected[0])


def test_two_calls_left_the_same_only_if_every_bit_of_outputs_and_inputs_is():
    outputs, inputs = (torch.zeros(3), torch.ones(2)), {1: torch.zeros(4)}
    first = Received(outputs, inputs)
    assert hold_the_same(first, Received(tuple(t.clone() for t in outputs), {1: torch.zeros(4)}))
    assert not hold_the_same(first, Received((torch.zeros(3), torch.tensor([1.0, 2.0])), inputs))
    assert not hold_the_same(first, Received((-torch.zeros(3), outputs[1]), inputs))
    assert not hold_the_same(first, Received(outputs, {1: torch.tensor([0.0, 0.0, 0.0, 1.0])}))


def test_an_operator_that_a_gpu_lacks_is_the_submissions_fault():
    """Whatever torch says of it: the plan was traced on a CPU, where it works."""
    out = TensorMeta((2, 2), (2, 1), "int64")
    step = OpStep("aten.mm", (Tensor(0), Tensor(1)), (), (Tensor(2),))
    tensors = {0: torch.ones(2, 2, dtype=torch.int64), 1: torch.ones(3, 2, dtype=torch.int64)}
    with pytest.raises(
        GpuError, match="the host program's aten.mm does not run on a cpu device: mat1 and mat2"
    ) as fault:
        run_operator(step, torch.ops.aten.mm.default, [out] * 3, tensors, torch.device("cpu"))
    assert fault.value.reason == "unsupported_kernel"


@pytest.mark.parametrize("told", ["CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate`", "CUDA error: unknown"])
def test_a_library_that_fails_is_not_the_submissions_fault(told):
    def operator(*_):
        raise RuntimeError(told)

    with pytest.raises(RuntimeError, match=told[:10]) as fault:
        run_operator(OpStep("aten.mm", (), (), ()), operator, [], {}, torch.device("cpu"))
    assert blame(fault.value, "", "").reason == "internal"


# Blame


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("CUDA_ERROR_ILLEGAL_ADDRESS", "illegal_address"),
        ("CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned_address"),
        ("CUDA_ERROR_OUT_OF_MEMORY", "out_of_memory"),
        ("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "grid_too_large"),
        ("CUDA_ERROR_ECC_UNCORRECTABLE", "machine"),
        ("CUDA_ERROR_DEVICE_UNAVAILABLE", "machine"),
        ("CUDA_ERROR_SYSTEM_NOT_READY", "machine"),
    ],
)
def test_who_is_to_blame(code, reason):
    assert describe(code, "scale").reason == reason
    assert blame(RuntimeError("torch says CUDA error"), code, "").reason == reason
    assert blame(DriverError(code, "launch"), "", "scale").reason == reason


def test_what_nobody_foresaw_is_ours():
    assert blame(ValueError("odd"), "", "scale").reason == "internal"
    assert blame(RuntimeError("CUDA out of memory. Tried to"), "", "").reason == "out_of_memory"


# A runner that misbehaves. The stand-ins are processes that speak the protocol's form, as a real one does.

HEADER = "import os, sys, time\nsys.stdout = os.fdopen(int(sys.argv[-1]), 'w')\n"
LOADED = 'print(\'{"status": "loaded"}\', flush=True); sys.stdin.readline()\n'
STARTED = LOADED + 'print(\'{"status": "started", "clock": false}\', flush=True)\n'


def misbehave(tmp_path, script):
    (tmp_path / "runner.py").write_text(HEADER + STARTED + script)
    return RunnerProcess([sys.executable, str(tmp_path / "runner.py")], tmp_path, make_shared_file(4096))


@pytest.mark.parametrize(
    ("script", "reason", "told"),
    [
        ("time.sleep(60)", "timeout", "did not end within 0.5 s (call): an endless loop"),
        ("sys.exit(7)", "internal", "exit code 7"),
        ("import ctypes; ctypes.string_at(0)", "internal", "signal 11"),
        ("print('hello', flush=True); sys.stdin.read()", "internal", "something else than a reply"),
        ("print('[1]', flush=True); sys.stdin.read()", "internal", "something else than a reply"),
        ("sys.stderr.write('Traceback: broken'); sys.exit(1)", "internal", "Traceback: broken"),
        (
            'sys.stdin.readline(); print(\'{"status": "fault", "reason": "illegal_address", "message": "m", '
            '"kernel": "k"}\', flush=True)',
            "illegal_address",
            "m",
        ),
    ],
)
def test_a_runner_that_misbehaves(tmp_path, script, reason, told):
    with misbehave(tmp_path, script) as runner:
        runner.wait_until_started()
        with pytest.raises(GpuError) as caught:
            runner.call(0, [], [], [], other_poison=True, timeout_s=0.5 if "sleep(60)" in script else 20)
    assert caught.value.reason == reason
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("ask", "fields"),
    [
        ("call", {}),
        ("call", {"events_us": "soon"}),
        ("call", {"events_us": -1.0}),
        ("call", {"events_us": 1e999}),
        ("spans", {"spans": [[1.0]]}),
        ("spans", {"spans": [[0.0, 1]]}),
        ("spans", {"spans": None}),
        ("capture", {}),
        ("capture", {"nodes": "many"}),
    ],
)
def test_a_reply_of_another_form_is_blamed_on_the_runner(tmp_path, ask, fields):
    line = json.dumps({"status": "done", **fields}).replace("Infinity", "1e999")
    with misbehave(tmp_path, f"sys.stdin.readline(); print({line!r}, flush=True); sys.stdin.read()") as runner:
        runner.wait_until_started()
        asks = {
            "call": lambda: runner.call(0, [], [], [], 20, other_poison=True),
            "spans": lambda: runner.take_spans(20),
            "capture": runner.capture,
        }
        with pytest.raises(GpuError, match="something else than a reply") as caught:
            asks[ask]()
    assert caught.value.reason == "internal"


def test_the_runner_is_confined_where_that_is_possible(tmp_path):
    """It says what it can do; the level says what it should not be able to."""
    script = (
        "import os, json, socket\n"
        "def allowed(act):\n"
        "    try: act()\n"
        "    except OSError: return False\n"
        "    return True\n"
        "reply = {'status': 'done', 'write': allowed(lambda: open('/written-by-runner', 'w')),\n"
        "         'secret': os.environ.get('HARNESS_SECRET', ''),\n"
        "         'processes': sum(n.isdigit() for n in os.listdir('/proc')),\n"
        "         'net': allowed(lambda: socket.create_connection(('127.0.0.1', PORT), 1))}\n"
        "sys.stdin.readline(); print(json.dumps(reply), flush=True); sys.stdin.readline()\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_SECRET", "token")
        with misbehave(tmp_path, script.replace("PORT", str(server.getsockname()[1]))) as runner:
            runner.wait_until_started()
            reply = runner._ask({"do": "tell"}, 20)
            level = runner.level
    assert reply["secret"] == ""
    if level is not Level.NONE:
        assert (reply["write"], reply["net"]) == (False, False)
    if level is Level.STRICT:
        assert reply["processes"] < 5
    Path("/written-by-runner").unlink(missing_ok=True)


@pytest.mark.skipif(why_not(Level.STRICT) is not None, reason="level strict is not to be had here")
def test_a_runner_that_does_not_start_is_tried_at_the_next_level(tmp_path):
    """As where the driver does not start inside a sandbox: the record says at which level it did, and why."""
    picky = "if os.environ['HOME'] == '/tmp': sys.exit('the driver does not start here')\n"
    (tmp_path / "runner.py").write_text(HEADER + picky + STARTED + "sys.stdin.read()")
    with RunnerProcess([sys.executable, str(tmp_path / "runner.py")], tmp_path, make_shared_file(4096)) as runner:
        runner.wait_until_started()
        assert runner.level is not Level.STRICT
        assert runner.why_lower[0] == "not strict: the driver does not start here"


def test_a_runner_that_starts_nowhere_says_why(tmp_path):
    (tmp_path / "runner.py").write_text("import sys; sys.exit('no driver at all')")
    with RunnerProcess([sys.executable, str(tmp_path / "runner.py")], tmp_path, make_shared_file(4096)) as runner:
        with pytest.raises(GpuError, match="no driver at all") as caught:
            runner.wait_until_started()
        assert (caught.value.reason, runner.level) == ("internal", Level.NONE)


def test_a_fault_after_the_start_lowers_no_level(tmp_path):
    with misbehave(tmp_path, "sys.exit(7)") as runner:
        runner.wait_until_started()
        level = runner.level
        with pytest.raises(GpuError):
            runner.take_spans(20)
        assert (runner.level, level) == (level, best_level().level)


# The device nodes of one GPU

FACTS = "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-{uuid}\nBus Location: \t 0000:{bus}:00.0\nDevice Minor: \t {minor}\n"


def machine(
    tmp_path, gpus, nodes=("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")
):
    (tmp_path / "dev").mkdir()
    for name in nodes:
        (tmp_path / "dev" / name).touch()
    for bus, (uuid, minor) in enumerate(gpus):
        folder = tmp_path / "gpus" / f"0000:{bus}:00.0"
        folder.mkdir(parents=True)
        (folder / "information").write_text(FACTS.format(uuid=uuid, bus=bus, minor=minor))

    def find(visible=""):
        return {path.name for path in find_devices(tmp_path / "dev", tmp_path / "gpus", visible)}

    return find


def test_a_runner_gets_the_nodes_of_its_own_gpu(tmp_path):
    find = machine(tmp_path, [("aaaa", 1), ("bbbb", 0)])
    assert find("GPU-aaaa") == {"nvidia1", "nvidiactl", "nvidia-uvm"}
    assert find("GPU-bbbb") == {"nvidia0", "nvidiactl", "nvidia-uvm"}


def test_where_its_own_node_cannot_be_told_it_gets_all(tmp_path):
    find = machine(tmp_path, [("aaaa", 1), ("bbbb", 0)])
    for unclear in ("", "1", "GPU-cccc", "MIG-dddd"):
        assert find(unclear) == {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}


def test_an_only_gpu_and_a_masked_proc(tmp_path):
    (tmp_path / "one").mkdir()
    find = machine(tmp_path / "one", [("aaaa", 0)])
    assert find() == find("0") == {"nvidia0", "nvidiactl", "nvidia-uvm"}
    (tmp_path / "masked").mkdir()
    assert machine(tmp_path / "masked", [], ("nvidia3", "nvidiactl"))() == {"nvidia3", "nvidiactl"}
    (tmp_path / "none").mkdir()
    assert machine(tmp_path / "none", [], ())() == set()
