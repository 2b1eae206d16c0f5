"""Variants and mutants as Helion kernels: kernels.yml and its faults, and the whole path of a small problem's."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from harness.case import load_cases
from harness.engine.local_gpus import LocalGpu
from harness.engine.qualifying import Course, find_target, try_kernels
from harness.engine.workspace import Workspace
from harness.errors import SpecError
from harness.qualify.conditions import Qualification
from harness.qualify.kernels import Kernel, KernelTrial, kernel_faults, load_kernels
from harness.qualify.measurements import ACCEPT, REFUSE, Candidate, Measurements
from harness.sandbox import best_level
from harness.spec import find_problem, load_season
from harness.toolchain import check_toolchain
from tests.season import SEASON_ROOT

from .conftest import AFFINE

TEMPLATE = Path(__file__).parents[1] / "workspace"
H200 = LocalGpu("NVIDIA H200", (9, 0))
CANDIDATES = (
    Candidate("float32", mutant=False, expected=ACCEPT),
    Candidate("offset_missing", mutant=True, expected=REFUSE, mistake="Adds no offset."),
    Candidate("scale_of_the_first_row", mutant=True, expected=REFUSE),
)
STARTER = """import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 32], num_warps=1), static_shapes=True)
def affine(x: torch.Tensor, scale: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * scale[rows][:, None] + offset[rows][:, None]
    return y


def custom_kernel(data):
    return affine(*data)
"""
KERNELS = """kernels:
  offset_missing:
    - {replace: " + offset[rows][:, None]", by: ""}
"""
NODE = """import json, pathlib, sys
died = pathlib.Path(__file__).with_name("died")
if not died.exists():
    died.touch()
    sys.exit()
asked = json.load(open(sys.argv[-1]))["cases"]
case = {"reason": "", "message": "", "kernel": "", "judgement": None, "seeds": [1], "calls": 1, "differing_bits": 0,
        "nodes": 1, "samples": None, "seconds": 0.1}
wrong = {"status": "failed", "reason": "wrong_values", "message": "y is off"}
plan = json.load(open(sys.argv[2] + "/manifest.json"))
told = [{**case, "id": c["id"], "status": "passed", **(wrong if plan["team"] == "qualify" else {})} for c in asked]
report = {"format": 1, "cases": told, "machine": {"gpu": "NVIDIA H200", "score_clock": "cupti"}, "clocks": {}}
print(json.dumps({"event": "report", "report": report}))
"""


def kernels_of(tmp_path, text):
    (tmp_path / "kernels.yml").write_text(text)
    return load_kernels(tmp_path, STARTER, CANDIDATES)


def test_a_kernel_is_the_starter_with_its_change(tmp_path):
    starter, wrong = kernels_of(tmp_path, KERNELS)
    assert starter == Kernel("starter", ACCEPT, STARTER)
    assert (wrong.name, wrong.expected) == ("offset_missing", REFUSE)
    assert wrong.source == STARTER.replace(" + offset[rows][:, None]", "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kernels: {}", "kernels.yml: kernels: "),
        (KERNELS.replace("replace", "from"), "kernels.offset_missing.0.replace: is missing; text is expected"),
        (
            KERNELS.replace("offset_missing", "nothing"),
            "kernels.nothing: neither a mutant of mutants.py nor a precision",
        ),
        (KERNELS.replace(" + offset", " - offset"), "kernels.offset_missing.0.replace: the starter has it 0 times"),
        (
            KERNELS.replace(" + offset[rows]", ""),
            "the starter has it 2 times, it must have it once: state the change anew",
        ),
    ],
)
def test_faults_of_kernels_yml(tmp_path, text, told):
    with pytest.raises(SpecError) as caught:
        kernels_of(tmp_path, text)
    assert told in str(caught.value)


def trial(expected, verdict, name="offset_missing"):
    return KernelTrial(name, expected, "default", "CPU", verdict, "wrong_values", "test/M4_N8/normal", "y is off\nmore")


def test_what_must_become_of_a_kernel():
    good = [trial(ACCEPT, "CHECKED"), trial(ACCEPT, "PASSED"), trial(REFUSE, "INCORRECT"), trial("either", "INCORRECT")]
    assert all(one.as_expected for one in good)
    assert list(kernel_faults(good)) == []
    # A wrong kernel that does not compile, or that the interpreter cannot run, proves nothing of the judge.
    bad = [trial(ACCEPT, "BUILT"), trial(REFUSE, "CHECKED"), trial(REFUSE, "COMPILE_ERROR"), trial(REFUSE, "BUILT")]
    faults = list(kernel_faults(bad))
    assert [name for name, _ in faults] == ["offset_missing"] * 4
    assert faults[0][1] == (
        "offset_missing as a Helion kernel is honest and must be accepted; on the CPU, with the tests of suite "
        "default, it is BUILT, wrong_values in test/M4_N8/normal: y is off"
    )
    assert "is wrong and must be INCORRECT; on the CPU" in faults[1][1]


def test_a_kernel_that_came_out_wrongly_disqualifies():
    measured = Measurements("affine", "0", "float32", 2, 2, (), (), ())
    assert Qualification(measured, ()).qualified
    result = Qualification(measured, (), (trial(REFUSE, "CHECKED"),))
    assert not result.qualified
    assert [fault.condition for fault in result.kernel_faults] == ["kernel"]


def test_the_season_names_the_gpus_that_count():
    season = load_season(SEASON_ROOT)
    assert find_target(H200, season).name == "h200"
    assert find_target(LocalGpu("NVIDIA H100 80GB HBM3", (9, 0)), season) is None
    assert find_target(LocalGpu("NVIDIA GeForce RTX 4090", (8, 9)), season) is None


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "w"
    shutil.copytree(TEMPLATE, root)
    shutil.copytree(AFFINE, root / "problems" / "affine")
    return Workspace(root)


def course(workspace, **gpu):
    return Course(workspace, load_season(workspace.root), best_level().level, check_toolchain(), **gpu)


def test_the_whole_path_on_the_cpu_and_on_a_gpu(workspace, tmp_path):
    """The GPU's node is a stand-in that dies once and tells the starter from the others; what it is asked is real."""
    problem = find_problem(workspace.root, "affine")
    assert try_kernels(course(workspace), problem, CANDIDATES, "default", lambda *told: None) == ()
    (problem.folder / "kernels.yml").write_text(KERNELS)
    starter = workspace.root / "submissions" / "starter" / "affine" / "submission.py"
    starter.parent.mkdir()
    starter.write_text(STARTER)
    (tmp_path / "node.py").write_text(NODE)
    steps = []
    here = course(workspace, gpu=H200, node=(sys.executable, str(tmp_path / "node.py")))
    trials = try_kernels(here, problem, CANDIDATES, "default", lambda *told: steps.append(told))
    assert [(t.kernel, t.device, t.verdict) for t in trials] == [
        ("starter", "CPU", "CHECKED"),
        ("starter", "NVIDIA H200", "PASSED"),
        ("offset_missing", "CPU", "INCORRECT"),
        ("offset_missing", "NVIDIA H200", "INCORRECT"),
    ]
    assert all(t.as_expected for t in trials)
    assert {t.case for t in trials[2:]} == {"test/M4_N8/normal"}
    assert trials[2].reason == "wrong_values"
    assert steps == [("starter as a Helion kernel", 0, 2), ("offset_missing as a Helion kernel", 1, 2)]
    built = [json.loads(path.read_text()) for path in workspace.artifacts.glob("*/manifest.json")]
    assert {(made["team"], made["target"]) for made in built} == {("starter", "h200"), ("qualify", "h200")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["causal_conv1d", "fp8_quant", "chunk_fwd_h", "chunk_fwd_o", "recompute_w_u"])
def test_the_problems_kernels_come_out_as_they_must(tmp_path, name):
    trials = problems_trials(tmp_path, name, "default")
    assert [t.message for t in trials if not t.as_expected] == []
    assert trials[0].kernel == "starter"
    assert sum(t.expected == REFUSE for t in trials) >= 4  # three mutants, and operands that are too short


@pytest.mark.slow
def test_the_events_inputs_check_a_kernel_without_any_recurrence(tmp_path):
    trials = {t.kernel: t.verdict for t in problems_trials(tmp_path, "chunk_fwd_h", "hackathon-2026")}
    assert trials["recurrence_skipped"] == "CHECKED"
    assert trials["correction_skipped"] == "CHECKED"
    assert trials["state_not_decayed"] == "INCORRECT"


def problems_trials(tmp_path, name, suite):
    """Try a problem's kernels with the repository's files and no artifact from before."""
    from harness.qualify.candidates import load_roster

    for part in ("problems", "submissions"):
        shutil.copytree(SEASON_ROOT / part, tmp_path / part)
    shutil.copy(SEASON_ROOT / "shapes.yaml", tmp_path)
    problem = find_problem(tmp_path, name)
    assert any(case.role == "test" for case in load_cases(problem, suite))
    here = course(Workspace(tmp_path))
    return try_kernels(here, problem, load_roster(problem).candidates, suite, lambda *told: None)
