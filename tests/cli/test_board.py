"""`harness board` and `harness show` as they are piped: what an empty season says, and how wide the output is."""

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


@pytest.mark.parametrize("columns", ["40", "60", None])
def test_a_board_never_leaves_out_team_score_and_record(root, columns):
    text = run(root, "board", "vector_add", "--target", "h200", "--from", str(RECORDS), columns=columns)
    row = next(line.split() for line in text.splitlines() if "starter" in line)
    assert row[1:3] == ["starter", microseconds(KEPT.score_us)]
    assert KEPT.id in row
    assert ("left out: widen the terminal" in text) == ("n16777216" not in text)
