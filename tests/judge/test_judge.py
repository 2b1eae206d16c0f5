"""The judge as a process: what passes, and each reason for which it does not."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors.torch
import torch

from harness.errors import HarnessError, SpecError, UsageError, WorkerError
from harness.replay.judge_client import JudgeProcess
from harness.replay.judgement import encode_judgement, parse_judgement
from harness.replay.poison import is_poison
from harness.replay.reference import load_reference
from harness.spec import load_problem

from .conftest import PROBLEMS, SHAPE


def test_an_honest_call_passes(judged):
    judgement = judged()
    assert judgement.passed
    assert (judgement.reason, judgement.message, judgement.likely_cause) == (None, "", None)
    assert [report.name for report in judgement.outputs] == ["y", "s", "n"]
    y = judgement.outputs[0]
    assert (y.wrong_elements, y.total_elements) == (0, 2 * 64 * 8)
    assert 0 < y.relative_l2 < 1e-6
    assert 0 < y.worst_over_tolerance < 1e-2


def test_minus_zero_is_zero(judged):
    assert judged(lambda t: t["1"][:, 0].fill_(-0.0)).passed


def test_wrong_values_say_where_and_how_much(judged):
    judgement = judged(lambda t: t["0"][1, 17, 3].add_(0.5))
    assert judgement.reason == "wrong_values"
    assert judgement.message.startswith("y[b=1, t=17, channel=3] is ")
    assert "off by 0.5, " in judgement.message
    assert "times the tolerance (rtol 0.001, atol 0.001); 1 of 1024 (under 0.1%) elements of y are wrong" in (
        judgement.message
    )
    report = judgement.outputs[0]
    assert report.worst == report.first_wrong == report.examples[0]
    assert report.worst.index == (1, 17, 3)
    assert math.isclose(report.worst.got - report.worst.expected, 0.5, rel_tol=1e-5)
    assert report.worst.over_tolerance == report.worst_over_tolerance > 100


def test_a_single_wild_element_among_many_fails(judged):
    assert judged(lambda t: t["1"][1, 3, 7].add_(0.05)).reason == "wrong_values"


def test_integers_are_exact(judged):
    judgement = judged(lambda t: t["2"][1].add_(1))
    assert judgement.reason == "wrong_values"
    assert judgement.message.startswith("n[b=1] is ")
    assert "beyond the tolerance" in judgement.message


def test_the_l2_cap_alone(judged):
    judgement = judged(lambda t: t["0"].mul_(1 + 5e-4))
    assert judgement.reason == "relative_error"
    assert judgement.message == (
        "every element of y is within its own tolerance, but the relative L2 error over all of them is 0.0005, above "
        "the cap of 0.0001"
    )


@pytest.mark.parametrize(("value", "shown"), [(math.nan, "NaN"), (math.inf, "infinity"), (-math.inf, "-infinity")])
def test_not_finite(judged, value, shown):
    judgement = judged(lambda t: t["0"][0, 5, :].fill_(value))
    assert judgement.reason == "not_finite"
    assert judgement.message.startswith(f"y[b=0, t=5, channel=0] is {shown}, expected ")
    assert judgement.message.endswith("8 of 1024 (0.8%) elements of y are NaN or infinite, all with b=0, t=5")
    assert judgement.outputs[0].not_finite_elements == 8
    assert judgement.outputs[0].relative_l2 is None


def test_an_unwritten_tail_of_a_buffer(judged):
    judgement = judged(lambda t: t["0"][:, 48:].copy_(t["input-2"][:, 48:]))
    assert judgement.reason == "unwritten"
    assert judgement.message == (
        "output y: 256 of 1024 (25.0%) elements were never written, or were computed from unwritten memory, all with "
        "t=48..63 (the last 16 of 64)"
    )
    assert judgement.likely_cause == (
        "The tail along t (from 48 on) is never written: the grid or the mask doesn't cover all 64 positions."
    )


def test_unwritten_integers_are_recognised_by_what_was_sent(judged):
    judgement = judged(lambda t: t["2"].copy_(t["input-3"]))
    assert judgement.reason == "unwritten"
    assert "output n: no element was ever written" in judgement.message


def test_unwritten_memory_that_is_no_buffer(judged):
    """A runner's own poison is any NaN with a payload that arithmetic doesn't make."""
    judgement = judged(lambda t: t["1"].view(torch.int32)[0].fill_(0x7FC12345))
    assert judgement.reason == "unwritten"
    assert judgement.message.endswith("all with b=0")
    assert judgement.likely_cause == "b=0 is never written: the grid or an offset leaves it out."


def test_a_modified_input_comes_before_wrong_values(judged):
    def change(tensors):
        tensors["input-1"][1, 2] += 1
        tensors["0"] += 1

    judgement = judged(change)
    assert judgement.reason == "input_modified"
    assert judgement.message == (
        "input g was modified by the call (1 of 128 elements, the first at g[b=1, t=2]): only outputs may be written"
    )


def test_a_sign_of_zero_is_a_modification(judged):
    judgement = judged(lambda t: t["input-0"].neg_(), distribution="zero")
    assert judgement.reason == "input_modified"


def test_buffers_may_be_written_and_left_out(judged):
    def change(tensors):
        tensors["input-2"].fill_(0)
        del tensors["input-3"]

    assert judged(change).passed


@pytest.mark.parametrize(
    ("change", "reason", "message"),
    [
        (
            lambda t: t.update({"1": t["1"].double()}),
            "wrong_dtype",
            "output s is float64; float32 is expected",
        ),
        (
            lambda t: t.update({"1": t["1"][:, :3]}),
            "wrong_shape",
            "output s has shape (2, 3, 8); (2, 4, 8) is expected, that is [B, T/C, D]",
        ),
        (
            lambda t: t.pop("2"),
            "wrong_arity",
            "custom_kernel returned 2 tensors; toy asks for a tuple of 3: y, s, n",
        ),
        (
            lambda t: t.update({"3": t["0"].clone()}),
            "wrong_arity",
            "custom_kernel returned 4 tensors; toy asks for a tuple of 3: y, s, n",
        ),
    ],
)
def test_wrong_form(judged, change, reason, message):
    judgement = judged(change)
    assert (judgement.reason, judgement.message) == (reason, message)
    assert judgement.outputs == ()


def test_wrong_strides(judged):
    judgement = judged(metadata={"strides-0": "[512, 1, 64]"})
    assert judgement.reason == "wrong_strides"
    assert judgement.message == (
        "output y has strides (512, 1, 64); it must be contiguous, with strides (512, 8, 1): allocate it so, or return "
        ".contiguous()"
    )
    assert judged(metadata={"strides-0": "[512, 8, 1]"}).passed


def test_zero_reference_has_no_relative_error(judged):
    judgement = judged(lambda t: t["1"].add_(5e-4), distribution="zero")
    assert judgement.passed
    assert judgement.outputs[1].relative_l2 is None


def test_sampled_replays_compare_what_was_stored(judged):
    def change(tensors):
        for number in range(3):
            tensors[f"stored-{number}"] = torch.zeros(tensors[str(number)].shape, dtype=torch.bool)
        tensors["stored-0"][0, :16] = True
        tensors["0"][1:] = 99

    judgement = judged(change, sampled=True)
    assert judgement.passed
    assert [report.total_elements for report in judgement.outputs] == [128, 0, 0]

    def wrong_too(tensors):
        change(tensors)
        tensors["0"][0, 3, 2] += 1

    judgement = judged(wrong_too, sampled=True)
    assert judgement.reason == "wrong_values"
    assert judgement.outputs[0].worst.index == (0, 3, 2)
    assert "1 of 128 (0.8%)" in judgement.message


def test_masks_count_only_where_asked_for(judged):
    def change(tensors):
        tensors["stored-0"] = torch.zeros(tensors["0"].shape, dtype=torch.bool)

    judgement = judged(change)
    assert judgement.reason == "malformed_output"
    assert "unexpected tensor, 'stored-0'" in judgement.message


def test_a_sampled_replay_that_stored_nothing_fails(judged):
    def change(tensors):
        for number in range(3):
            tensors[f"stored-{number}"] = torch.zeros(tensors[str(number)].shape, dtype=torch.bool)

    judgement = judged(change, sampled=True)
    assert judgement.reason == "malformed_output"
    assert judgement.message == "the replay stored no element of any output in the programs it ran"


def test_inputs_depend_on_seed_and_everything_else(toy, tmp_path):
    def made(seed, shape=SHAPE, distribution="normal"):
        return safetensors.torch.load_file(toy.make_inputs(shape, distribution, seed, tmp_path / "x").file)

    first, again, other = made(5), made(5), made(6)
    high = made(5 + (1 << 40))  # torch's CPU generator alone keeps 32 bits of a seed
    for name in first:
        assert torch.equal(first[name].view(torch.uint8), again[name].view(torch.uint8))
    for different in (other, high, made(5, distribution="zero")):
        assert not torch.equal(first["0"], different["0"])
        assert not torch.equal(first["1"], different["1"])
    longer = made(5, {**SHAPE, "T": 128})
    assert not torch.equal(first["1"], longer["1"][:, :64])


def test_buffers_are_poisoned(toy, tmp_path):
    one = safetensors.torch.load_file(toy.make_inputs(SHAPE, "normal", 5, tmp_path / "x").file)
    two = safetensors.torch.load_file(toy.make_inputs(SHAPE, "normal", 6, tmp_path / "x").file)
    assert bool(is_poison(one["2"]).all())
    assert not torch.equal(one["2"].view(torch.int32), two["2"].view(torch.int32))
    assert not torch.equal(one["3"], two["3"])


def test_expected_values_stay_in_the_judge(toy, tmp_path):
    made = toy.make_inputs(SHAPE, "normal", 7, tmp_path / "in.safetensors")
    assert made.tensors == 4
    assert made.size_bytes == made.file.stat().st_size
    assert set(safetensors.torch.load_file(made.file)) == {"0", "1", "2", "3"}
    assert [path.name for path in tmp_path.iterdir()] == ["in.safetensors"]


def test_an_old_sample_is_made_again(judged, toy, tmp_path):
    for seed in range(10, 16):
        toy.make_inputs(SHAPE, "normal", seed, tmp_path / "x")
    assert judged(seed=10).passed


def test_inputs_replace_a_planted_link(toy, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "in.safetensors").symlink_to(victim)
    made = toy.make_inputs(SHAPE, "normal", 1, tmp_path / "in.safetensors")
    assert victim.read_text() == "precious"
    assert not made.file.is_symlink()


def test_a_request_that_makes_no_sense(toy, tmp_path):
    with pytest.raises(UsageError, match="no distribution 'wild'; it has normal, zero"):
        toy.make_inputs(SHAPE, "wild", 1, tmp_path / "x")
    with pytest.raises(UsageError, match="a shape of toy gives B, T, D; not B"):
        toy.make_inputs({"B": 1}, "normal", 1, tmp_path / "x")
    with pytest.raises(WorkerError, match="cannot write inputs to .*: No such file or directory"):
        toy.make_inputs(SHAPE, "normal", 1, tmp_path / "missing" / "x")


@pytest.mark.parametrize(
    ("distribution", "message"),
    [
        ("generate_raises", r"generate\(\) raised ValueError: no such luck at line \d+: raise ValueError"),
        ("generate_exits", r"generate\(\) raised SystemExit: 0 at line \d+: sys.exit\(0\)"),
        ("generate_shape", r"generate\(\) returned w with shape \(4,\); \(8,\) is expected"),
        ("generate_dtype", r"generate\(\) returned w as float64; float32 is expected"),
        ("generate_strides", r"generate\(\) returned w with strides \(2,\); a contiguous tensor is expected"),
        ("generate_count", r"generate\(\) returned 1 items; task.yml declares a tuple of x, w"),
        ("generate_none", r"generate\(\) returned NoneType; task.yml declares a tuple of x, w"),
        ("generate_shared", r"generate\(\) returned two inputs that share memory; clone one of them"),
        ("reference_raises", r"reference\(\) raised NameError: .*missing_name.* at line \d+: return "),
        ("reference_shape", r"reference\(\) returned out with shape \(4,\); \(8,\) is expected"),
        ("reference_dtype", r"reference\(\) returned out as float32; float64 is expected"),
        ("reference_nan", r"reference\(\) returned NaN or infinity in out for .*; choose inputs"),
        ("reference_modifies", r"reference\(\) modified its input x in place; work on a copy"),
    ],
)
def test_faults_of_a_reference_are_the_organisers(broken, tmp_path, distribution, message):
    with pytest.raises(SpecError, match=r"broken/reference.py: " + message):
        broken.make_inputs({"N": 8}, distribution, 1, tmp_path / "x")
    assert broken.make_inputs({"N": 8}, "fine", 1, tmp_path / "x").tensors == 2


def test_a_crash_and_a_hang_point_at_the_reference(tmp_path):
    with JudgeProcess(PROBLEMS / "broken", timeout_s=60) as judge:
        with pytest.raises(WorkerError, match=r"(?s)ended by signal 6.*broken/reference.py is at fault.*in generate"):
            judge.make_inputs({"N": 8}, "crash", 1, tmp_path / "x")
        with pytest.raises(WorkerError, match="the judge ended by signal 6"):
            judge.make_inputs({"N": 8}, "fine", 1, tmp_path / "x")
    with JudgeProcess(PROBLEMS / "broken", timeout_s=60) as judge:
        judge._timeout_s = 0.5
        with pytest.raises(WorkerError, match=r"(?s)did not answer 'inputs' within 0.5 s.*reference.py is at fault"):
            judge.make_inputs({"N": 8}, "hang", 1, tmp_path / "x")


def test_a_problem_that_does_not_load(tmp_path):
    with pytest.raises(SpecError, match="task.yml: no such file"):
        JudgeProcess(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def generate(): ...\n", r"toy/reference.py: defines no function reference\(\)"),
        (
            "import torch\nimport torch.no_such_module\n",
            r"importing it raised ModuleNotFoundError: .*at line 2: import torch.no_such_module",
        ),
        ("import torch\nimport numpy\n", r"toy/reference.py: imports numpy at line 2: torch and the standard library"),
        ("def f(:\n", r"toy/reference.py: importing it raised SyntaxError: "),
        (
            "NOT_FINITE = {'z'}\ndef generate(): ...\ndef reference(): ...\n",
            "NOT_FINITE names z, which is not an output",
        ),
    ],
)
def test_a_reference_that_does_not_load(tmp_path, source, message):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "task.yml").write_text((PROBLEMS / "toy" / "task.yml").read_text())
    (folder / "reference.py").write_text(source)
    with pytest.raises(SpecError, match=message):
        load_reference(load_problem(folder))


def test_the_client_needs_no_torch():
    code = "import sys, harness.replay.judge_client; sys.exit('torch' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_judgements_are_valid_json_and_come_back_whole(judged):
    judgement = judged(lambda t: t["0"].fill_(math.inf))
    text = json.dumps(encode_judgement(judgement), allow_nan=False)
    assert parse_judgement(json.loads(text)) == judgement


def test_errors_are_harness_errors():
    assert issubclass(WorkerError, HarnessError)
