"""What is still to write in a problem's folder: the importer marks it, check-problem lists it until it is gone."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from harness.authoring.check import check_folder
from harness.authoring.event.bring import import_problem
from harness.authoring.event.marks import Mark, add_marks
from harness.authoring.finding import TO_WRITE
from harness.authoring.unwritten import comment, find_unwritten
from harness.qualify.examine import examine

from .conftest import HANGS_S

EVENTS = Path(__file__).parent / "events"


def listed(root):
    """What check-problem lists of a problem that was brought in: file, the text of the line, what is to write."""
    folder = root / "problems" / "brought"
    found = [f for f in check_folder(root, folder, examine) if f.level == TO_WRITE]
    return [(Path(f.file).name, (root / f.file).read_text().splitlines()[f.line - 1], f.message) for f in found]


def test_what_the_importer_leaves_to_write_is_listed_until_it_is_gone(root, tmp_path):
    (tmp_path / "scratch").mkdir()
    imported = import_problem(root, EVENTS / "group_scale_py", "brought", tmp_path / "scratch")
    left = [f.message for f in imported.findings if f.level == TO_WRITE]
    *ours, table = listed(root)
    assert [(file, message) for file, _, message in ours] == [
        ("task.yml", "check_implementation states no rtol and atol as numbers: 1e-3 is written for what is missing"),
        ("task.yml", "distributions: the event has one; write more, until every mutant is refused"),
        ("task.yml", "group_scale_py/task.yml:12: benchmarks: there are none: the tests stand in for them"),
        ("task.yml", "cost.flops: the event states none; write what the formula needs"),
        *(("reference.py", f"group_scale_py/reference.py:{line}: torch.float32: a reference computes in float64: take "
           "it out where it narrows") for line in (22, 24)),
        ("mutants.py", "mutants.py: the event has none; write the honest kernel and its mutants"),
    ]  # fmt: skip
    assert all(line.lstrip().startswith("# FIXME: ") for _, line, _ in ours)
    assert table[2] == "put here what `harness qualify brought --markdown` prints."
    assert all(any(message in told for _, _, told in ours) for message in left if "submission.py" not in message)
    task = root / "problems" / "brought" / "task.yml"
    assert yaml.safe_load(task.read_text())["cost"]["flops"] == 0
    task.write_text("".join(line for line in task.read_text().splitlines(True) if "cost.flops" not in line))
    assert len(listed(root)) == len(ours)


def test_the_command_lists_and_counts_it(root):
    for name in ("problems", "submissions/starter"):
        assert (root / name / "scale").is_dir()
    with (root / "submissions" / "starter" / "scale" / "submission.py").open("a") as file:
        file.write("# FIXME: a faster one\n")
    lines = (root / "submissions" / "starter" / "scale" / "submission.py").read_text().count("\n")
    command = [sys.executable, "-m", "harness", "check-problem", "scale"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=HANGS_S)
    assert f"submissions/starter/scale/submission.py:{lines}: to write: a faster one\n" in done.stdout
    assert ", 1 thing to write\n" in done.stdout


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", "x = 1\n# FIXME: say why\n", [(2, "say why")]),
        ("a.py", "    # FIXME: one\n    #   and more\n    # not of it\n", [(1, "one and more")]),
        ("a.py", "x = (FIXME, 3)\n", [(1, "FIXME stands for what is to be written: x = (FIXME, 3)")]),
        ("a.py", "FIXMES = 1\n", []),
        ("a.yml", "inputs: [{shape: [FIXME]}]\n", []),
        ("a.yml", "text: |\n  FIXME: write it\n", [(2, "write it")]),
        ("a.md", "# A\n<!-- FIXME: the table -->\n", [(2, "the table")]),
        ("b.md", "", []),
    ],
)
def test_every_fixme_is_found_with_its_line(tmp_path, name, text, found):
    path = tmp_path / name
    path.write_text(text)
    (tmp_path / "gone.py").unlink(missing_ok=True)
    assert [(f.line, f.text) for f in find_unwritten([path, tmp_path / "gone.py"])] == [
        (line, f"{path}: {told}") for line, told in found
    ]


def test_a_long_one_is_wrapped_and_read_back_whole(tmp_path):
    told = "write " + "what the formula needs " * 20 + "a_word_" * 30 + " and the rest"
    path = tmp_path / "a.py"
    path.write_text("\n".join(comment(told, "    ")) + "\nx = 1\n")
    assert [(f.line, f.text) for f in find_unwritten([path])] == [(1, f"{path}: {told}")]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1b[1m"])
def test_what_a_mark_quotes_cannot_end_its_comment(end):
    marked = add_marks({"a": "x = 1\ny = 2\n"}, [Mark("a", "y", f"size of x{end}import os; os._exit(7)")])["a"]
    lines = marked.splitlines()
    assert (lines[0], lines[-1]) == ("x = 1", "y = 2")
    assert all(line.startswith("# ") for line in lines[1:-1])


def test_a_mark_without_a_place_is_at_the_end_and_one_with_several_at_the_last():
    marked = add_marks({"a": "  x: 1\n  x: 2\n"}, [Mark("a", "  x:", "one"), Mark("a", "z", "two")])["a"]
    assert marked == "  x: 1\n  # FIXME: one\n  x: 2\n# FIXME: two\n"
