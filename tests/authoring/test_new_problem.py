"""`harness new-problem`: a folder that works as it is, and is never written over another."""

import json

import pytest

from harness.authoring.check import check_folder
from harness.authoring.finding import TO_WRITE
from harness.authoring.scaffold import begin_problem
from harness.errors import UsageError
from harness.qualify.examine import examine
from harness.spec import find_problem
from tests.qualify.conftest import qualify_here

from .conftest import ROOT, lint


def test_it_loads_and_qualifies_as_it_is(root):
    begin_problem(root, "draft")
    folder = find_problem(root, "draft").folder
    result = qualify_here(folder, roles=("test",))
    assert result.qualified, [fault.message for fault in result.suites[0].faults]
    assert sum(candidate.mutant for candidate in result.measured.candidates) >= 10


def test_all_that_is_left_to_do_is_the_table_the_season_and_what_it_is(root):
    begin_problem(root, "draft")
    opened, tabled, *left = check_folder(root, root / "problems" / "draft", examine)
    assert [(f.level, f.file.rpartition("/")[2], f.message) for f in left] == [
        (TO_WRITE, "task.yml", "replace this by a paragraph that says what is computed, in which formula it occurs and "
         "who needs it fast"),
        (TO_WRITE, "task.yml", "say where the formula is from: a paper and its section, or the model and layer that "
         "use it"),
        (TO_WRITE, "README.md", "say where the formula occurs, with its source, and what makes it hard to compute "
         "fast"),
    ]  # fmt: skip
    assert opened.message == "does not list draft, so its results are never ranked"
    assert tabled.message == "holds no table of qualification yet: print it by harness qualify draft --markdown"


def test_it_is_written_in_the_repositorys_style(root):
    for path in begin_problem(root, "draft"):
        if path.suffix == ".py":
            assert lint(ROOT / path.relative_to(root), path.read_text()) == ""
        assert "@NAME@" not in path.read_text()


def test_the_command_says_what_to_do_next(root, harness):
    result = harness("new-problem", "draft")
    assert result.returncode == 0, result.stderr
    files, advice = result.stdout.split("\n\n")
    assert files.split() == [
        "problems/draft/task.yml",
        "problems/draft/reference.py",
        "problems/draft/mutants.py",
        "problems/draft/kernels.yml",
        "problems/draft/README.md",
        "submissions/starter/draft/submission.py",
    ]
    assert all((root / file).is_file() for file in files.split())
    for told in (
        "harness check-problem draft",
        "harness submit draft",
        "harness qualify draft",
        "draft: {points: 100}",
    ):
        assert told in advice
    again = harness("new-problem", "draft", "--json")
    assert again.returncode == 2
    assert "problems/draft exists already: choose another name, or edit what is there" in again.stderr
    assert json.loads(harness("new-problem", "other", "--json").stdout)["problem"] == "other"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Draft", "'Draft' cannot be a problem's name: it becomes a folder's, so use a-z, 0-9 and _, 64 at most"),
        ("../x", "'../x' cannot be a problem's name"),
        ("9x", "'9x' cannot be a problem's name"),
        ("x" * 65, "cannot be a problem's name"),
        ("scale", "problems/scale exists already: choose another name, or edit what is there"),
        ("scale_py", "scale_py is taken: it is an alias of the problem scale"),
        ("left_over", "submissions/starter/left_over exists already"),
    ],
)
def test_bad_and_taken_names_are_refused_and_nothing_is_written(root, name, told):
    (root / "submissions" / "starter" / "left_over").mkdir()
    before = sorted(root.rglob("*"))
    with pytest.raises(UsageError, match="problem|exists") as error:
        begin_problem(root, name)
    assert told in str(error.value)
    assert sorted(root.rglob("*")) == before


def test_a_problem_that_does_not_load_takes_no_name(root):
    (root / "problems" / "scale" / "task.yml").write_text("name: [")
    assert begin_problem(root, "draft")


@pytest.mark.slow
def test_the_starter_is_checked_but_not_ranked_before_it_is_in_the_season(root, harness):
    begin_problem(root, "draft")
    result = harness("submit", "draft")
    assert result.stdout.startswith("CHECKED  draft"), result.stdout + result.stderr
    assert "not ranked (no ranked entries so far): the season does not list draft; checked on a CPU: ranking needs" in (
        " ".join(result.stdout.split())
    )
    assert "note: draft is not in the season, so this is for trying it out: never ranked" in result.stderr
