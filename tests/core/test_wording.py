"""What a document at fault is told: the place, what was found, what to write instead, in our words and each once."""

from __future__ import annotations

import copy
import datetime
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from harness.errors import SpecError
from harness.qualify.kernels import KernelFile
from harness.spec import load_season
from harness.spec.document import load_document, parse_document
from harness.spec.problem import Problem
from harness.spec.season import Shapes
from harness.spec.team import Maintainers, Team
from harness.spec.wording import hint_of_number, tell_faults

WORKSPACE = Path(__file__).parents[1] / "workspace"

TASK = {
    "name": "scale",
    "title": "Scale rows",
    "aliases": ["scale_py"],
    "description": "d",
    "axes": {"M": {"description": "rows", "multiple_of": 1, "minimum": 1}},
    "constants": {"C": 3},
    "inputs": [{"name": "x", "shape": ["M", 3], "dtype": "float32", "description": "d", "buffer": False}],
    "outputs": [{"name": "y", "shape": ["M", 3], "dtype": "float32"}],
    "tolerance": {"all": {"rtol": 1e-3, "atol": 1e-3, "relative_l2": 1e-3, "accepted": 0.5, "refused": 2.0}},
    "precision": "float32",
    "deterministic": True,
    "distributions": {"default": "normal", "normal": "standard normal"},
    "tests": [{"M": 1, "distribution": "normal"}],
    "benchmarks": [{"M": 1}],
    "suites": {"weak": {"distribution": "normal", "tests": [{"M": 1}], "gameable": True, "note": "n", "source": "s"}},
    "cost": {"flops": "M", "read_bytes": 12, "write_bytes": "12*M"},
    "source": "s",
    "ranking": "geometric_mean",
}
SEASON = {
    "season": {
        "name": "s",
        "title": "t",
        "opens": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
        "targets": ["b200"],
        "divisions": ["closed"],
        "code_visible": "never",
        "sandbox": "strict",
        "budgets": {"compile_cpu_s": 720, "kernel_wall_s": 1.5},
        "problems": {"scale": {"points": 100, "suites": ["default"]}},
        "advanced_controls": [{"id": "a", "path": "/a", "file": "a.bin", "sha256": "0" * 64}],
    },
    "suites": {"model": {"title": "t", "source": "s", "problems": {"scale": {"tests": [], "benchmarks": [{"M": 1}]}}}},
}
KERNELS = {"kernels": {"wrong": [{"replace": "a", "by": "b"}]}}
TEAM = {"logins": ["isaac"], "title": "The Newtons"}
FORMS = [(Problem, TASK), (Shapes, SEASON), (KernelFile, KERNELS), (Team, TEAM), (Maintainers, {"logins": ["isaac"]})]
WRONG = [None, 5, -1, 1.5, float("inf"), True, "", "x y", "x" * 99, [], ["x"], [[]], {}, {"a": []}, {3: 4},
         datetime.date(2026, 1, 1)]  # fmt: skip


def told(model, document):
    with pytest.raises(SpecError) as error:
        parse_document(yaml.safe_dump(document), "F", model)
    return str(error.value).splitlines()


def places(value, way=()):
    """Every place in a document, the document itself too."""
    yield way
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*way, key))


def put(document, way, value):
    """The document with another value at a place."""
    changed = {"": copy.deepcopy(document)}
    holder, last = changed, ""
    for part in way:
        holder, last = holder[last], part
    holder[last] = value
    return changed[""]


@pytest.mark.parametrize(("model", "document"), FORMS, ids=lambda given: getattr(given, "__name__", ""))
def test_no_word_of_the_library_reaches_anybody_whatever_stands_wherever(model, document):
    assert model.model_validate(document)
    faults = 0
    for way in places(document):
        for wrong in WRONG:
            try:
                model.model_validate(put(document, way, wrong))
            except ValidationError as error:
                told = tell_faults(error.errors(), model)
                assert told, (way, wrong)
                assert len(set(told)) == len(told)
                for theirs in error.errors():
                    words = theirs["msg"].removeprefix("Value error, ")
                    ours = theirs["type"] == "value_error"  # a validator of ours has said it
                    assert ours or not any(words in text for text in told), (way, wrong, told)
                assert not any("another value is expected" in text or "\n" in text for text in told), (way, told)
                begins = ".".join(map(str, way[:-1]))  # what holds it, where two fields do not fit together
                assert all(text.startswith(begins) for text in told), (way, wrong, told)
                faults += 1
    assert faults > 20


@pytest.mark.parametrize(
    ("model", "way", "value", "message"),
    [
        (Problem, ("title",), 5, 'title: text is expected (found 5): write it in quotes, "5"'),
        (Problem, ("title",), None, "title: text is expected (found nothing)"),
        (Problem, ("titel",), "x", "titel: there is no such field (found 'x'): did you mean title?"),
        (Problem, ("cost", "width"), {}, "cost.width: there is no such field (found a mapping); there are flops, "
         "read_bytes, write_bytes"),
        (Problem, ("cost",), {"flops": 1, "read_bytes": 1},
         "cost.write_bytes: is missing; text or a whole number is expected"),
        (Problem, ("cost",), 5, "cost: a mapping with flops, read_bytes, write_bytes is expected (found 5)"),
        (Problem, ("axes", "M"), "rows",
         "axes.M: a mapping with description and perhaps multiple_of, minimum is expected (found 'rows')"),
        (Problem, ("axes", "M", "minimum"), -1, "axes.M.minimum: must be at least 1 (found -1)"),
        (Problem, ("axes", "M", "minimum"), 1.5, "axes.M.minimum: a whole number is expected (found 1.5)"),
        (Problem, ("axes", "2x"), {"description": "d"},
         "axes.2x: a name is a letter, then letters, digits, _ and -, 64 in all (found '2x')"),
        (Problem, ("tolerance", "all", "atol"), float("inf"),
         "tolerance.all.atol: must be a finite number (found .inf)"),
        (Problem, ("tolerance", "all", "rtol"), "x", "tolerance.all.rtol: a number is expected (found 'x')"),
        (Problem, ("tolerance", "all", "refused"), None, "tolerance.all: accepted and refused are the margins on the "
         "two sides: give both, or neither"),
        (Problem, ("inputs",), [], "inputs: must have 1 entry or more (found 0)"),
        (Problem, ("inputs",), {"x": 1}, "inputs: a list of mappings is expected (found a mapping): begin each entry "
         "with `- `"),
        (Problem, ("inputs", 0, "shape"), "M", "inputs.0.shape: a list is expected (found 'M'): write [M]"),
        (Problem, ("inputs", 0, "shape"), "M N", 'inputs.0.shape: a list is expected (found \'M N\'): write ["M N"]'),
        (Problem, ("inputs", 0, "shape", 0), [1],
         "inputs.0.shape.0: text or a whole number is expected (found a list)"),
        (Problem, ("inputs", 0, "buffer"), "maybe", "inputs.0.buffer: true or false is expected (found 'maybe')"),
        (Problem, ("precision",), "float23", "precision: one of float32, tf32, float16, bfloat16, fp8 is expected "
         "(found 'float23'): did you mean float32?"),
        (Problem, ("tests", 0, "M"), None, "tests.0.M: a whole number is expected (found nothing)"),
        (Problem, ("suites", "weak", "tests", 0, "M"), [1],
         "suites.weak.tests.0.M: a whole number is expected (found a list)"),
        (Problem, ("tests", 0, "M"), 7.5, "tests.0.M: a whole number is expected (found 7.5)"),
        (Problem, ("tests", 0, "distribution"), 7.5,
         'tests.0.distribution: text is expected (found 7.5): write it in quotes, "7.5"'),
        (Problem, ("aliases",), ["a", "b", "a"], "aliases: a stands twice: name it once"),
        (Shapes, ("season", "targets"), "b200", "season.targets: a list is expected (found 'b200'): write [b200]"),
        (Shapes, ("season", "targets"), ["b200", "b200"], "season.targets: b200 stands twice: name it once"),
        (Shapes, ("season", "opens"), "soon",
         "season.opens: a date or a time such as 2026-11-30 20:00 is expected (found 'soon')"),
        (Shapes, ("season", "problems"), {}, "season.problems: must have 1 entry or more (found 0)"),
        (Shapes, ("season", "problems", "scale"), 100,
         "season.problems.scale: a mapping with perhaps points, suites is expected (found 100)"),
        (Shapes, ("season", "budgets", "compile_cpu_s"), 0,
         "season.budgets.compile_cpu_s: must be more than 0 (found 0)"),
        (Shapes, ("season", "advanced_controls", 0, "sha256"), "zz", "season.advanced_controls.0.sha256: 64 hex digits "
         "in lower case, as sha256sum prints them (found 'zz')"),
        (Shapes, ("season", "advanced_controls", 0, "path"), "x", "season.advanced_controls.0.path: a path from the "
         "root: / and letters, digits, _ . / and - (found 'x')"),
        (KernelFile, ("kernels", "wrong"), "x",
         "kernels.wrong: a list of mappings is expected (found 'x'): begin each entry with `- `"),
        (KernelFile, ("kernels", "wrong", 0, "replace"), "", "kernels.wrong.0.replace: must not be empty (found '')"),
        (KernelFile, (), [1], "a mapping with kernels is expected (found a list)"),
        (KernelFile, (), None, "a mapping with kernels is expected (found nothing)"),
        (Team, ("title",), "x" * 99, f"title: may have 80 characters at most (found '{'x' * 60}')"),
    ],
)  # fmt: skip
def test_a_fault_says_what_was_found_and_what_to_write(model, way, value, message):
    assert told(model, put(dict(FORMS)[model], way, value)) == [f"F: {message}"]


def test_an_entry_at_fault_is_told_and_not_that_entries_are_missing():
    assert told(Problem, put(TASK, ("inputs", 0, "dtype"), 5)) == [
        'F: inputs.0.dtype: text is expected (found 5): write it in quotes, "5"'
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "not valid YAML: key 'a' stands twice, again at line 3, column 1 ('a: 3')"),
        (
            "a:\n  - 2026-13-01\n",
            "not valid YAML: 2026-13-01: month must be in 1..12 at line 2, column 5 ('- 2026-13-01')",
        ),
    ],
)
def test_what_no_yaml_has_is_told_with_its_line(text, message):
    with pytest.raises(SpecError) as error:
        parse_document(text, "F", Team)
    assert str(error.value) == f"F: {message}"


def test_everything_that_a_season_names_and_nobody_has_is_told(tmp_path):
    season = put(SEASON, ("season", "targets"), ["b300", "b200", "b400"])
    (tmp_path / "a.bin").write_bytes(b"")
    other = {"id": "b", "path": "/b", "file": "b.bin", "sha256": "0" * 64}
    season["season"]["advanced_controls"].append(other)
    (tmp_path / "shapes.yaml").write_text(yaml.safe_dump(season))
    with pytest.raises(SpecError) as error:
        load_season(tmp_path)
    lines = [line.removeprefix(f"{tmp_path / 'shapes.yaml'}: ") for line in str(error.value).splitlines()]
    assert [line.split("; ")[0] for line in lines] == [
        "suites.model.problems: no problem 'scale'",
        "season.targets.0: unknown target 'b300'",
        "season.targets.2: unknown target 'b400'",
        "season.advanced_controls.0.sha256: a.bin hashes to "
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "season.advanced_controls.1.file: b.bin cannot be read: No such file or directory",
    ]


def test_the_documents_of_this_repository_are_of_their_forms():
    assert load_document(WORKSPACE / "shapes.yaml", Shapes).season.targets == ("b200", "h200")


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        ("1e2", ": write 100"),
        ("1,000,000", ": write 1000000"),
        ("-4 096", ": write -4096"),
        ("64.0", ": write 64"),
        ("1,5", ""),
        ("1,", ""),
        ("1e99", ""),
        ("\N{ARABIC-INDIC DIGIT THREE}", ""),
        ("wide", ""),
        (3, ""),
    ],
)
def test_a_number_that_was_meant_is_told_and_none_is_made_up(found, hint):
    assert hint_of_number(found) == hint
