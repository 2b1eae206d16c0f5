"""task.yml: what loads, and how each fault is told."""

import datetime
from pathlib import Path

import pytest
import yaml

from harness.case import load_cases, select_cases, suite_names
from harness.errors import SpecError, UsageError
from harness.spec import find_problem, load_problem, load_season, problem_names

ROOT = Path(__file__).parents[2]

GOOD = {
    "name": "scale",
    "title": "Scale",
    "aliases": ["scale_py"],
    "description": "Twice the input.",
    "axes": {"M": {"description": "rows"}, "N": {"description": "columns", "multiple_of": 16}},
    "constants": {"C": 16},
    "inputs": [{"name": "x", "shape": ["M", "N"], "dtype": "float32"}],
    "outputs": [{"name": "y", "shape": ["M", "N/C", "C"], "dtype": "float32"}],
    "tolerance": {"all": {"rtol": 1e-3, "atol": 1e-3}},
    "precision": "float32",
    "distributions": {"default": "normal", "normal": "standard normal", "large": "times 1000"},
    "tests": [{"M": 2, "N": 32}, {"M": 2, "N": 32, "distribution": "large"}],
    "benchmarks": [{"M": 64, "N": 64}],
    "suites": {"heavy": {"distribution": "large"}},
    "cost": {"flops": "M*N", "read_bytes": "4*M*N", "write_bytes": "4*M*N"},
}


def write(folder: Path, document) -> Path:
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    (folder / "reference.py").write_text("")
    return folder


def fault(tmp_path: Path, **changes) -> str:
    with pytest.raises(SpecError) as error:
        load_problem(write(tmp_path / "scale", {**GOOD, **changes}))
    assert str(tmp_path / "scale" / "task.yml") in str(error.value)
    return str(error.value)


def test_a_good_file_answers_for_its_shapes(tmp_path):
    problem = load_problem(write(tmp_path / "scale", GOOD))
    shape = {"M": 2, "N": 32}
    assert problem.output_sizes(shape) == ((2, 2, 16),)
    assert problem.cost_of(shape) == (64, 256, 256)
    assert problem.tolerance_of("y").rtol == 1e-3
    assert problem.default_distribution == "normal"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import numpy", "imports numpy at line 1: torch and the standard library are all that it may import"),
        ("import math, numpy.linalg as la", "imports numpy.linalg at line 1: torch and"),
        ("from .factor import FACTOR", "imports .factor at line 1: torch and"),
        ("from . import factor", "imports . at line 1: torch and"),
        ("def f():\n    if 0:\n        import harness.spec", "imports harness.spec at line 3: torch and"),
        ("import importlib.util", "imports importlib.util at line 1, by which other files are reached: write what it"),
        ("from pathlib import Path", "imports pathlib at line 1, by which other files are reached"),
        ("x = open('x').read()", "uses open at line 1, by which other files are reached"),
        ("\nx = __file__", "uses __file__ at line 2, by which other files are reached"),
        ("x = __import__('x')", "uses __import__ at line 1, by which other files are reached"),
        ("x = __spec__.origin", "uses __spec__ at line 1, by which other files are reached"),
    ],
)
def test_a_reference_takes_nothing_from_outside_of_itself(tmp_path, source, told):
    folder = write(tmp_path / "scale", GOOD)
    (folder / "reference.py").write_text(source)
    with pytest.raises(SpecError) as error:
        load_problem(folder)
    assert str(error.value).startswith(f"{folder / 'reference.py'}: {told}")


def test_all_that_a_reference_takes_from_outside_is_told_a_line_each_in_order(tmp_path):
    folder = write(tmp_path / "scale", GOOD)
    (folder / "reference.py").write_text("def f():\n    import jax\nimport numpy\nopen = 1\nimport numpy\n")
    with pytest.raises(SpecError) as error:
        load_problem(folder)
    found = [line.split("reference.py: ")[1].split(":")[0].split(",")[0] for line in str(error.value).splitlines()]
    assert found == [
        "imports jax at line 2",
        "imports numpy at line 3",
        "uses open at line 4",
        "imports numpy at line 5",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport math, os, torch\nfrom torch.nn.functional import pad\n",
        "def f(:\n",  # importing it tells
        "# coding: latin-1\n# \xe9\n",
    ],
)
def test_a_reference_of_torch_and_the_standard_library_loads(tmp_path, source):
    folder = write(tmp_path / "scale", GOOD)
    (folder / "reference.py").write_bytes(source.encode("latin-1"))
    assert load_problem(folder).version


def test_the_version_is_the_content(tmp_path):
    folder = write(tmp_path / "scale", GOOD)
    before = load_problem(folder).version
    assert load_problem(folder).version == before
    (folder / "reference.py").write_text("# changed\n")
    assert load_problem(folder).version != before


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"titel": "x"}, ["titel: there is no such field", "did you mean title?"]),
        ({"title": None}, ["title: text is expected (found nothing)"]),
        (
            {"inputs": [{"name": "x", "shape": ["M"], "dtype": "float31"}]},
            ["inputs.0.dtype", "float31", ": did you mean float32?"],
        ),
        ({"inputs": [{"name": "x", "shape": ["M", "Q"], "dtype": "float32"}]}, ["inputs.x.shape", "Q", "axis"]),
        ({"outputs": [{"name": "y", "shape": ["M if 1 else 2"], "dtype": "float32"}]}, ["only integers, axis names"]),
        ({"tolerance": {"z": {"rtol": 0.1, "atol": 0}}}, ["tolerance", "output y has none"]),
        ({"tolerance": {"all": {"rtol": 2, "atol": 0}}}, ["tolerance.all.rtol", "less than 1"]),
        ({"distributions": {"default": "gone", "normal": "n"}}, ["distributions.default: gone is not one of normal"]),
        ({"distributions": {"default": "norml", "normal": "n"}}, ["norml is not one of normal: did you mean normal?"]),
        ({"distributions": {"normal": "n"}}, ["distributions.default: is missing; one of normal is expected"]),
        ({"tests": [{"M": 2}]}, ["tests.0.N: is missing; a whole number is expected, the axis's size"]),
        ({"tests": [{"M": 2, "N": "1e2"}]}, ["tests.0.N: a whole number is expected (found '1e2'): write 100"]),
        ({"tests": [{"M": 2, "N": "1,024"}]}, ["tests.0.N: a whole number is expected (found '1,024'): write 1024"]),
        ({"tests": [{"M": 2, "N": "wide"}]}, ["tests.0.N: a whole number is expected (found 'wide')"]),
        ({"constants": {"C": "1,000"}}, ["constants.C: a whole number is expected (found '1,000'): write 1000"]),
        ({"constants": {"C": "1e2"}}, ["constants.C: a whole number is expected (found '1e2'): write 100"]),
        ({"tests": [{"M": 2, "N": 17}]}, ["tests.0.N", "17", "multiple of 16"]),
        ({"tests": [{"M": 2, "N": 0}]}, ["tests.0.N: must be at least 1 and a multiple of 16 (found 0)"]),
        ({"tests": [{"M": 2, "N": 16, "Z": 1}]}, ["tests.0", "Z is not an axis", "M, N"]),
        (
            {"tests": [{"M": 2, "N": 16, "distribution": "larg"}]},
            ["larg is not one of large, normal: did you mean large?"],
        ),
        ({"tests": [{"M": 2, "N": 16, "distribution": "odd"}]}, ["tests.0.distribution", "odd", "normal", "large"]),
        ({"cost": {"flops": "M*Q", "read_bytes": 1, "write_bytes": 1}}, ["cost.flops", "Q"]),
        ({"name": "other"}, ["name", "differs from the folder's"]),
    ],
)
def test_faults_say_file_place_and_what_was_expected(tmp_path, changes, told):
    message = fault(tmp_path, **changes)
    assert all(part in message for part in told), message


def test_every_fault_is_listed(tmp_path):
    message = fault(tmp_path, title=3, precision="exact")
    assert len(message.splitlines()) == 2


def test_yaml_faults(tmp_path):
    with pytest.raises(SpecError, match=r"task\.yml: not valid YAML: a list that .* at line 1, column 7 \('name"):
        load_problem(write(tmp_path / "a", "name: [unclosed"))
    with pytest.raises(SpecError, match="'name' stands twice"):
        load_problem(write(tmp_path / "b", "name: b\nname: b\n"))
    with pytest.raises(SpecError, match="no such file"):
        load_problem(tmp_path / "c")


def test_cases_of_suites(tmp_path):
    problem = load_problem(write(tmp_path / "scale", GOOD))
    assert [case.id for case in load_cases(problem)] == [
        "test/M2_N32/normal", "test/M2_N32/large", "benchmark/M64_N64/normal"
    ]  # fmt: skip
    assert [case.id for case in load_cases(problem, "heavy")] == ["test/M2_N32/large", "benchmark/M64_N64/large"]
    with pytest.raises(UsageError, match="no suite 'light'; suites: default, heavy"):
        load_cases(problem, "light")


def test_selecting_cases(tmp_path):
    cases = load_cases(load_problem(write(tmp_path / "scale", GOOD)))
    assert select_cases(cases, ("benchmark",)) == cases[2:]
    assert select_cases(cases, ("M2_N32",)) == cases[:2]
    assert select_cases(cases, ("test/*/large",)) == cases[1:2]
    with pytest.raises(UsageError, match="no case matches 'test/M2_N33/normal'; for instance: test/M2_N32/normal"):
        select_cases(cases, ("test/M2_N33/normal",))


def test_the_repositorys_problems_and_season_load():
    season = load_season(ROOT)
    assert set(season.problems) <= set(problem_names(ROOT))
    for name in season.problems:
        problem = find_problem(ROOT, name)
        assert all(load_cases(problem, suite) for suite in suite_names(problem))


def test_event_names_are_aliases():
    assert find_problem(ROOT, "gated_deltanet_chunk_fwd_h").name == "chunk_fwd_h"
    assert find_problem(ROOT, "gated_deltanet_chunk_fwd_h_py").name == "chunk_fwd_h"
    assert find_problem(ROOT, "causal_conv1d_py").name == "causal_conv1d"


def test_unknown_problem_suggests_near_names():
    with pytest.raises(UsageError, match=r"unknown problem 'chunk_fwd_x'\. Did you mean .*chunk_fwd_[ho]"):
        find_problem(ROOT, "chunk_fwd_x")


def test_season_faults(tmp_path):
    season = {"name": "s", "title": "S", "targets": ["b300"], "problems": {"scale": {}}}
    (tmp_path / "shapes.yaml").write_text(yaml.safe_dump({"season": season}))
    with pytest.raises(SpecError, match=r"season\.targets\.0: unknown target 'b300'; one of b200"):
        load_season(tmp_path)
    (tmp_path / "shapes.yaml").write_text(yaml.safe_dump({"season": {**season, "bugdets": {}}}))
    with pytest.raises(SpecError, match="bugdets"):
        load_season(tmp_path)


def test_a_seasons_times_are_utc_and_in_order(tmp_path):
    def load(**times):
        season = {"name": "s", "title": "S", "targets": ["b200"], "problems": {"scale": {}}, **times}
        (tmp_path / "shapes.yaml").write_text(yaml.safe_dump({"season": season}))
        return load_season(tmp_path)

    season = load(opens="2027-01-31T18:00+02:00", closes="2027-02-01T18:00:00")
    assert season.opens.isoformat() == "2027-01-31T16:00:00+00:00", "as every page shows it: in UTC"
    assert season.closes.isoformat() == "2027-02-01T18:00:00+00:00", "without a zone it is UTC"
    with pytest.raises(SpecError, match="the season would close before it opens"):
        load(opens="2027-01-31T18:00Z", closes="2027-01-31T19:00+01:00")


@pytest.mark.parametrize(
    ("visible", "times", "shown"),
    [
        ("at_once", {}, True),
        ("at_once", {"opens": 1}, True),
        ("never", {"closes": -1}, False),
        ("after_close", {}, False),
        ("after_close", {"closes": 1}, False),
        ("after_close", {"closes": 0}, True),
        ("after_close", {"opens": 1, "closes": 2}, False),
        ("after_close", {"opens": 1, "closes": -1}, False),
    ],
)
def test_when_a_season_shows_code(visible, times, shown):
    """A season that is still to come hides it, even where somebody set its end into the past."""
    now = datetime.datetime(2027, 1, 15, 12)
    moved = {name: now + datetime.timedelta(hours=hours) for name, hours in times.items()}
    season = load_season(ROOT).model_copy(update={"opens": None, "closes": None, "code_visible": visible, **moved})
    assert season.shows_code(now) is shown
    local = now.replace(tzinfo=datetime.timezone.utc).astimezone(datetime.timezone(datetime.timedelta(hours=9)))
    assert season.shows_code(local) is shown
