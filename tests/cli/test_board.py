"""`harness board` and `harness show` as they are piped: what an empty season says, and how wide the output is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.board.text import microseconds
from harness.store import load_records

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "records" / "h200"
KEPT = next(record for record in load_records(RECORDS) if record.problem == "vector_add")
SUM = ("--problem", "vector_add")


@pytest.fixture
def root(tmp_path):
    """A workspace with two problems, one of them with a kept record."""
    root = shutil.copytree(ROOT / "tests" / "workspace", tmp_path / "w")
    season = (root / "shapes.yaml").read_text()
    shutil.copytree(ROOT / "problems" / "vector_add", root / "problems" / "vector_add")
    (root / "shapes.yaml").write_text(season.replace("  problems:\n", "  problems:\n    vector_add: {points: 10}\n"))
    return root


def run(root, *arguments, columns=None):
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"COLUMNS": columns} if columns else {}
    command = [sys.executable, "-m", "harness", *arguments]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_empty_boards_are_a_line_each_and_what_ranking_needs_is_said_once(root):
    lines = run(root, "board").splitlines()
    assert [line.endswith(" closed division  no entry yet") for line in lines] == [True, True, False, False]
    assert lines[-1] == "Ranking needs a replay on a GPU of the season (b200, h200)."
    shutil.copytree(RECORDS, root / "records" / "h200")
    told = (
        'Ranking needs a replay on a GPU of the season (b200, h200). make board ARGS="--from records/h200" shows what'
    )
    assert told in run(root, "board", "scale")
    assert run(root, "board", "--standings").splitlines()[-2].startswith("Ranking needs a replay on a GPU")


def test_a_season_of_the_open_division_alone_shows_its_board(root):
    season = (root / "shapes.yaml").read_text()
    (root / "shapes.yaml").write_text(season.replace("  targets:", "  divisions: [open]\n  targets:"))
    assert "open division  no entry yet" in run(root, "board", "scale")
    assert "closed division  no entry yet" in run(root, "board", "scale", "--division", "closed")


def test_a_target_that_the_season_does_not_rank_is_named_once(root):
    text = run(root, "board", "--target", "h100")
    assert text.count("The season ranks b200, h200, not h100.") == 1
    assert "Ranking needs" not in text
    kept = run(root, "board", "vector_add", "--target", "h200", "--from", str(RECORDS))
    assert "starter" in kept
    assert "The season ranks" not in kept, "there is a ranked entry"
    told = "score: geometric mean of the benchmarks' times; of floor: least possible time / time"
    assert kept.count(told) == run(root, "board", "--target", "h200", "--from", str(RECORDS)).count(told) == 1


def test_what_is_piped_is_as_wide_as_columns_says(root):
    wide, narrow = (run(root, "show", "--from", str(RECORDS), *SUM, columns=columns) for columns in (None, "80"))
    assert 80 < max(map(len, wide.splitlines())) <= 110
    assert max(map(len, narrow.splitlines())) <= 80
    assert f"left out: widen the terminal, or harness show {KEPT.id} --from" in " ".join(narrow.split())
    rows = {tuple(line.split()[:3]) for line in narrow.splitlines()}
    assert {("n1000", "test", name) for name in ("normal", "tiny", "cancelling", "negative")} <= rows
    assert run(root, "show", "--from", str(RECORDS), *SUM, columns="none") == wide


@pytest.fixture
def faulty(root):
    """The workspace with a fault in the first of its problems, and a third that nobody wrote."""
    task = root / "problems" / "vector_add" / "task.yml"
    task.write_text(task.read_text().replace("\ntitle:", "\ntitel:"))
    season = (root / "shapes.yaml").read_text()
    (root / "shapes.yaml").write_text(season.replace("  problems:\n", "  problems:\n    scael: {points: 10}\n"))
    return root


FAULTS = {
    "scael": "shapes.yaml: season.problems.scael: unknown problem 'scael'. Did you mean scale?",
    "vector_add": "problems/vector_add/task.yml: titel: there is no such field (found",
}


def fail(root, *arguments):
    command = [sys.executable, "-m", "harness", *arguments]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2, result.stderr
    return result.stdout, result.stderr


@pytest.mark.parametrize(
    "arguments", [["board"], ["problems"], ["board", "--standings"], ["board", "--export", "site"]]
)
def test_a_problem_at_fault_is_named_and_the_others_are_shown(faulty, arguments):
    stdout, stderr = fail(faulty, *arguments)
    for name, told in FAULTS.items():
        assert f"error: {name} is left out: " in stderr
        assert told in stderr
    assert "Scale" in stdout or "--export" in arguments or "--standings" in arguments
    assert ((faulty / "site" / "problems" / "scale.html").exists()) == ("--export" in arguments)


@pytest.mark.parametrize(("verb", "key"), [("board", "problem"), ("problems", "name")])
def test_a_problem_at_fault_is_in_json_too(faulty, verb, key):
    documents = json.loads(fail(faulty, verb, "--json")[0])
    assert [document[key] for document in documents] == ["scale", "scael", "vector_add"]
    assert all(FAULTS[document[key]] in document["error"] for document in documents[1:])
    assert "error" not in documents[0]


def test_a_problem_at_fault_that_is_asked_for_fails_and_stands_in_no_others_way(faulty):
    stdout, stderr = fail(faulty, "board", "vector_add")
    assert stdout == ""
    assert FAULTS["vector_add"] in stderr
    assert "left out" not in stderr
    assert "no entry yet" in run(faulty, "board", "scale")
    assert "no entry yet" in run(faulty, "board", "scale_py")
    unknown = " ".join(fail(faulty, "board", "another")[1].split())
    assert "unknown problem 'another'. Problems: scale, vector_add. " in unknown
    assert "Their aliases are not known while they are at fault: vector_add." in unknown


def test_the_others_are_qualified_where_a_problem_is_at_fault(root):
    (root / "problems" / "scale" / "reference.py").unlink()
    stdout, stderr = fail(root, "qualify", "--no-kernels", "--seeds", "2", "--json")
    good, bad = json.loads(stdout)
    assert good["qualified"] is True
    assert (bad["problem"], "scale/reference.py: no such file" in bad["error"]) == ("scale", True)
    assert "error: scale is left out: " in stderr


def test_where_all_problems_are_at_fault_nothing_is_shown(faulty):
    (faulty / "problems" / "scale" / "reference.py").unlink()
    for verb in ("board", "problems", "qualify"):
        stdout, stderr = fail(faulty, verb)
        assert stdout == ""
        assert all(told in stderr for told in FAULTS.values())
        assert "scale/reference.py: no such file" in stderr


@pytest.mark.parametrize("columns", ["40", "60", None])
def test_a_board_never_leaves_out_team_score_and_record(root, columns):
    text = run(root, "board", "vector_add", "--target", "h200", "--from", str(RECORDS), columns=columns)
    row = next(line.split() for line in text.splitlines() if "starter" in line)
    assert row[1:3] == ["starter", microseconds(KEPT.score_us)]
    assert KEPT.id in row
    assert ("left out: widen the terminal" in text) == ("n16777216" not in text)
