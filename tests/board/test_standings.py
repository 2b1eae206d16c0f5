"""Points over all problems; records in files, rendered and saved through the command."""

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.board import rank, rank_overall
from harness.errors import StoreError, UsageError
from harness.spec import find_problem
from harness.store import encode_record, load_records, save_records
from tests.store.samples import checked, passed

TEMPLATE = Path(__file__).parents[1] / "workspace"
POINTS = {"chunk_fwd_h": 100, "conv": 50}


def board(*records, problem="chunk_fwd_h", noise=0.01):
    return rank(records, problem, "b200", "closed", noise=noise)


def test_points_are_the_leaders_time_over_ones_own():
    first = board(passed("acme", 10, 0), passed("bolt", 20, 1))
    other = board(passed("bolt", 5, 2, problem="conv"), problem="conv")
    standings = rank_overall([first, other], POINTS)
    assert [(s.place, s.team, s.points) for s in standings] == [(1, "acme", 100.0), (1, "bolt", 100.0)]
    assert standings[1].by_problem == {"chunk_fwd_h": 50.0, "conv": 50.0}


def test_who_ties_gets_the_same_points():
    near = board(passed("acme", 10, 0), passed("bolt", 10.09, 1), passed("core", 20, 2), passed("dust", 20.1, 3))
    assert [(s.place, s.team, s.points) for s in rank_overall([near], POINTS)] == [
        (1, "acme", 100.0),
        (1, "bolt", 100.0),
        (3, "core", 50.0),
        (3, "dust", 50.0),
    ]


def test_what_is_not_ranked_and_problems_without_points_give_none():
    unworthy = board(passed("acme", 10, 0, problem="softmax"), problem="softmax")
    assert [s.points for s in rank_overall([unworthy], POINTS)] == [0.0]
    assert rank_overall([board(checked("acme"))], POINTS) == ()


# Files


def test_records_survive_files(tmp_path):
    records = [passed("acme", 10, 0), checked("bolt", 1), passed("core", 12, 2)]
    assert len(save_records(records, tmp_path / "a" / "b")) == 3
    assert load_records(tmp_path) == records
    (tmp_path / "list.json").write_text(json.dumps([encode_record(record) for record in records]))
    assert load_records(tmp_path / "list.json") == records
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(encode_record(r)) + "\n" for r in records))
    assert load_records(tmp_path / "lines.jsonl") == records
    assert load_records(tmp_path) == records  # the same ones, each once


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "bad.json is not JSON"),
        (b"\xff", "bad.json is not JSON"),
        (b"[" * 100_000, "bad.json is not JSON"),
        (b'{"id": "a", "id": "b"}', "bad.json is not JSON"),
        (b'{"score_us": NaN}', "bad.json is not JSON"),
        (b"{}", "bad.json: a stored record is damaged"),
        (b'{"format": 99}', "bad.json: a stored record has format 99"),
        (b'{"format": 1, "id": 5}', "bad.json: the stored document at Record.id should hold str, not int"),
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path, content, told):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(StoreError) as caught:
        load_records(tmp_path)
    assert told in str(caught.value)


def test_no_records_there(tmp_path):
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError, match="no records at"):
            load_records(place)


def test_an_id_that_is_no_file_name_is_not_written(tmp_path):
    with pytest.raises(StoreError, match="not of the form of ids"):
        save_records([dataclasses.replace(passed("acme", 1), id="../../x")], tmp_path)
    assert not list(tmp_path.rglob("*.json"))


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="records cannot be written"):
        save_records([passed("acme", 1)], tmp_path / "file")


def test_a_board_of_a_version_that_is_no_longer_gives_no_points():
    old, now = [rank([passed("acme", 10)], "chunk_fwd_h", "b200", "closed", version_now=v) for v in ("2", "1")]
    assert rank_overall([old], {"chunk_fwd_h": 10}) == ()
    assert [standing.points for standing in rank_overall([now], {"chunk_fwd_h": 10})] == [10.0]


# The command


@pytest.fixture
def checkout(tmp_path):
    root = shutil.copytree(TEMPLATE, tmp_path / "w")
    now = find_problem(root, "scale").version
    records = [
        passed("acme", 10.0, 0, problem="scale", target="h200", problem_version=now),
        passed("bolt", 20.0, 1, problem="scale", target="h200", problem_version=now),
        checked("core", 2, problem="scale", target="b200", problem_version=now),
    ]
    save_records(records, root / "records")
    return root


def harness(checkout, *arguments):
    command = [sys.executable, "-m", "harness", "board", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=120)


def test_a_board_from_files_shows_the_target_that_is_ranked(checkout):
    result = harness(checkout, "--from", "records")
    assert result.returncode == 0, result.stderr
    assert "scale · h200" in result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    overall = lines.index(["Overall", "h200", "·", "closed", "division,", "by", "points"])
    assert [line[:3] for line in lines[overall:] if line[:1] in (["1"], ["2"])] == [
        ["1", "acme", "10.0"],
        ["2", "bolt", "5.0"],
    ]
    assert result.stdout.splitlines()[overall - 1] == ""  # a blank line ends the board before
    assert result.stdout.splitlines()[0] != ""
    assert "core" in harness(checkout, "scale", "--from", "records", "--target", "b200").stdout
    standings = json.loads(harness(checkout, "--from", "records", "--standings", "--json").stdout)
    assert [entry["points"] for entry in standings] == [10.0, 5.0]


def test_what_is_saved_can_be_shown_and_exported(checkout):
    assert harness(checkout, "--from", "records", "--save", "kept").returncode == 0
    assert {r.team for r in load_records(checkout / "kept")} == {"acme", "bolt"}
    assert harness(checkout, "--from", "kept", "--export", "site").returncode == 0
    assert "acme" in (checkout / "site" / "boards" / "scale-h200-closed.html").read_text()


def test_bad_usage(checkout):
    missing = harness(checkout, "--from", "nowhere")
    assert (missing.returncode, "no records at nowhere" in missing.stderr) == (2, True)
    assert "leave the problem out" in harness(checkout, "scale", "--standings").stderr
