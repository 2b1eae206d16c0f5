"""`harness records`: every record of a team, one a line."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.store import open_store, save_records
from tests.board.test_terminal import show
from tests.store.samples import checked, incorrect, passed, submitted

TEMPLATE = Path(__file__).parents[1] / "workspace"


@pytest.fixture
def root(tmp_path):
    """A workspace with records in files, and one of another team in its store, stopped."""
    root = shutil.copytree(TEMPLATE, tmp_path / "w")
    slow = passed("acme", 23.41, 3, ranked=False, unranked_reason="its sandbox is not the season's")
    save_records([checked("acme", 1), incorrect("acme", 2), slow, passed("bolt", 9.5, 4)], root / "kept")
    with open_store(root / ".harness" / "records.sqlite") as store:
        record = submitted("bolt")
        store.submit(record)
        store.interrupt(record)
    return root


def run(root, *arguments, code=0):
    command = [sys.executable, "-m", "harness", "records", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == code, result.stderr
    return result


def test_a_teams_records_are_listed_the_newest_first(root):
    lines = run(root, "--team", "acme", "--from", "kept").stdout.splitlines()
    told = [line for line in lines if "acme" in line]
    assert [next(word for word in line.split() if word.isupper() and len(word) > 5) for line in told] == [
        "PASSED", "INCORRECT", "CHECKED",
    ]  # fmt: skip
    assert "23.41" in told[0]
    assert "not ranked: its " in told[0]
    assert "2027-01-15 00:03" in told[0]
    assert "bolt" not in "".join(lines)


def test_the_records_of_this_machine_are_listed(root):
    text = " ".join(run(root).stdout.split())
    assert "bolt" in text
    assert "INTERRUPTED" in text
    assert "HARNESS" not in text
    (document,) = json.loads(run(root, "--json").stdout)
    assert (document["team"], document["state"], document["verdict"]) == ("bolt", "interrupted", None)


def test_json_has_the_verdict_and_none_of_the_cases(root):
    documents = json.loads(run(root, "--from", "kept", "--json").stdout)
    assert [(one["team"], one["verdict"]["kind"]) for one in documents] == [
        ("bolt", "PASSED"), ("acme", "PASSED"), ("acme", "INCORRECT"), ("acme", "CHECKED"),
    ]  # fmt: skip
    assert documents[0]["score_us"] == 9.5
    assert "cases" not in documents[0]
    assert json.loads(run(root, "--problem", "another", "--json").stdout) == []


def test_what_is_left_out_is_told(root):
    text = run(root, "--from", "kept", "--limit", "3").stdout
    assert text.rstrip().endswith("only the newest 3: --limit shows more")
    assert "--limit" not in run(root, "--from", "kept", "--limit", "4").stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--team", "cold"],
            "there is no record of team cold yet: make submit PROBLEM=chunk_fwd_h TEAM=cold makes one",
        ),
        (["--problem", "scale", "--from", "kept"], "there is no record of problem scale in kept"),
        (["--limit", "0"], "Invalid value for '--limit'"),
    ],
)
def test_bad_usage_says_what_to_do(root, arguments, told):
    result = run(root, *arguments, code=2)
    assert told in " ".join(result.stderr.split())
    assert result.stdout == ""


@pytest.mark.parametrize("width", [60, 80, 110])
def test_a_narrow_terminal_keeps_record_and_verdict(width):
    from harness.board.summary import render_summaries

    records = [incorrect("acme", 2), passed("bolt", 9.5, 4)]
    text = show(render_summaries(records, more=False), width)
    assert all(record.id in text and record.kind in text for record in records)
    assert all(len(line) <= width for line in text.splitlines())
