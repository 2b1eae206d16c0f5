"""Suites that shapes.yaml gives to problems, and the margins beside tolerances: what is loaded, and what is refused."""

import shutil
from pathlib import Path

import pytest
import yaml

from harness.case import load_cases, suite_names
from harness.errors import SpecError
from harness.spec import Tolerance, find_problem, load_problem, load_season
from tests.season import SEASON_ROOT

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "tests" / "workspace"
SUITE = {
    "title": "A model",
    "source": "its paper",
    "problems": {"scale": {"tests": [{"M": 3, "N": 32}], "benchmarks": [{"M": 7, "N": 64}]}},
}


@pytest.fixture
def root(tmp_path):
    shutil.copytree(TEMPLATE, tmp_path / "w")
    return tmp_path / "w"


def share(root, suites):
    path = root / "shapes.yaml"
    document = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**document, "suites": suites}))


def test_a_shared_suite_adds_to_the_problems_own_tests(root):
    alone = find_problem(root, "scale")
    share(root, {"model": SUITE})
    problem = find_problem(root, "scale")
    assert suite_names(problem) == (*suite_names(alone), "model")
    own = [case for case in load_cases(alone) if case.role == "test"]
    ids = [case.id for case in load_cases(problem, "model")]
    assert ids[: len(own)] == [case.id for case in own]
    default = problem.default_distribution
    assert ids[len(own) :] == [f"test/M3_N32/{default}", f"benchmark/M7_N64/{default}"]
    assert (problem.suites["model"].note, problem.suites["model"].source) == ("A model", "its paper")
    assert problem.version == alone.version
    assert load_cases(problem) == load_cases(alone)


def test_an_alias_finds_the_same_suites(root):
    share(root, {"model": SUITE})
    alias = find_problem(root, "scale").aliases[0]
    assert "model" in find_problem(root, alias).suites


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"source": ""}, "suites.model.source: must not be empty"),
        ({"problems": {}}, "suites.model.problems: "),
        ({"problems": {"scale": {"benchmarks": []}}}, "suites.model.problems.scale.benchmarks: "),
        (
            {"problems": {"scale": {"benchmarks": [{"M": 3}]}}},
            "suites.model.problems.scale.benchmarks.0.N: is missing; a whole number is expected",
        ),
        (
            {"problems": {"scale": {"tests": [{"M": 3, "N": 32, "Q": 1}], "benchmarks": [{"M": 3, "N": 32}]}}},
            "suites.model.problems.scale.tests.0.Q: Q is not an axis",
        ),
        (
            {"problems": {"scale": {"benchmarks": [{"M": 3, "N": 32, "distribution": "none"}]}}},
            "suites.model.problems.scale.benchmarks.0.distribution: none is not one of",
        ),
    ],
)
def test_faults_of_a_shared_suite(root, change, told):
    share(root, {"model": {**SUITE, **change}})
    with pytest.raises(SpecError) as caught:
        find_problem(root, "scale")
    assert "shapes.yaml: " in str(caught.value)
    assert told in str(caught.value)


def test_a_suite_cannot_take_the_name_of_one_of_the_problem(root):
    share(root, {"default": SUITE})
    with pytest.raises(SpecError, match="the problem has a suite default of its own; choose another name"):
        find_problem(root, "scale")


def test_a_suite_for_a_problem_that_is_not_there(root):
    share(root, {"model": {**SUITE, "problems": {"scael": SUITE["problems"]["scale"]}}})
    with pytest.raises(SpecError, match=r"suites\.model\.problems: no problem 'scael'; problems: .*scale"):
        load_season(root)


def test_the_repositorys_suites_have_sources_and_fit_their_problems():
    named = {"chunk_fwd_h": {"qwen3-next", "gated-deltanet", "odd-sizes"}, "causal_conv1d": {"mamba", "mamba-2"},
             "fp8_quant": {"deepseek-v3", "llama-3", "qwen3"}}  # fmt: skip
    for name, suites in named.items():
        problem = find_problem(SEASON_ROOT, name)
        assert suites <= set(problem.suites)
        assert all(problem.suites[suite].source for suite in suites)
        ranked = load_season(SEASON_ROOT).problems[name].suites
        assert ranked == ("default",)


@pytest.mark.parametrize(
    ("margins", "told"),
    [
        ({"accepted": 0.5}, "accepted and refused are the margins on the two sides: give both, or neither"),
        ({"accepted": 1.0, "refused": 2.0}, "must be less than 1"),
        ({"accepted": -0.1, "refused": 2.0}, "must be at least 0"),
        ({"accepted": 0.5, "refused": 1.0}, "must be more than 1"),
    ],
)
def test_margins_lie_on_their_sides_of_the_tolerance(root, margins, told):
    assert Tolerance(rtol=1e-3, atol=1e-3, accepted=0.5, refused=2.0).refused == 2.0
    folder = root / "problems" / "scale"
    task = yaml.safe_load((folder / "task.yml").read_text())
    output = next(iter(task["tolerance"]))
    task["tolerance"][output] |= margins
    (folder / "task.yml").write_text(yaml.safe_dump(task))
    with pytest.raises(SpecError) as caught:
        load_problem(folder)
    assert told in str(caught.value)
    assert f"tolerance.{output}" in str(caught.value)
