"""`harness check-problem`: all faults at once, each with its file and line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.authoring.check import check_folder

from tests.qualify.conftest import AFFINE

TEMPLATE = Path(__file__).parents[1] / "workspace"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "w"
    shutil.copytree(TEMPLATE, root)
    shutil.copytree(AFFINE, root / "problems" / "affine")
    return root


def edit(root, name, old, new):
    path = root / "problems" / "affine" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def told(root, level="error"):
    found = check_folder(root, root / "problems" / "affine")
    return [(Path(f.file).name, f.line, f.message) for f in found if f.level == level]


def stands_at(root, file, line):
    """The text of a line that is blamed."""
    return (root / "problems" / "affine" / file).read_text().splitlines()[line - 1].strip()


def test_faults_of_the_task_come_all_at_once_with_their_lines(root):
    edit(root, "task.yml", "precision: float32", "precision: exact")
    edit(root, "task.yml", "{M: 4, N: 8, distribution: wide}", "{M: none, N: 8}")
    edit(root, "task.yml", "title: Scale and shift rows", "titel: Scale and shift rows")
    found = told(root)
    blamed = {stands_at(root, file, line) for file, line, _ in found if line}
    assert {"precision: exact", "titel: Scale and shift rows"} <= blamed
    assert any(message.startswith("precision: Input should be 'float32'") for _, _, message in found)


def test_faults_of_reference_and_mutants_come_together(root):
    edit(root, "reference.py", 'if distribution == "wide":', 'if distribution == "wide":\n        1 / 0')
    edit(root, "mutants.py", "offset * 0), shape)", "offset * 0), shape)[0][:2]")
    edit(root, "mutants.py", "scale[:1].expand_as(scale)", "scale.nope")
    found = told(root)
    assert [file for file, _, _ in found] == ["reference.py", "mutants.py", "mutants.py"]
    assert stands_at(root, *found[0][:2]) == "1 / 0"
    assert "generate() raised ZeroDivisionError" in found[0][2]
    assert found[0][2].endswith("(distribution wide)")
    assert found[1][2].startswith("offset_missing returned shapes (2, 8); task.yml declares (4, 8)")
    assert found[2][2].startswith("scale_of_the_first_row raised AttributeError: ")
    assert "scale.nope" in stands_at(root, *found[2][:2])


def test_a_yaml_that_cannot_be_read_has_a_line(root):
    edit(root, "task.yml", "title: Scale", "title: [Scale")
    [(file, line, message)] = told(root)
    assert file == "task.yml"
    assert line
    assert message.startswith("not valid YAML")


def test_what_an_organiser_would_rather_know(root):
    edit(root, "mutants.py", '    """Adds no offset."""\n', "")
    edit(root, "task.yml", "  wide: x times 10", "  wide: x times 10\n  odd: as normal")
    messages = [message for _, _, message in told(root, "warning")]
    assert messages == [
        "5 mutants; a problem that is no exercise has 10 or more",
        "mutant offset_missing has no docstring that says its mistake",
        "distributions.odd: no test and no suite uses it",
        "no source: say where the mathematics is from",
        "no such file; participants read it first",
        "no starter in submissions/starter/affine/submission.py",
        "does not list affine, so nobody can submit to it",
    ]


def run(root, *arguments):
    command = [sys.executable, "-m", "harness", "check-problem", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)


def test_the_command(root):
    fine = run(root, "affine", "--json")
    assert fine.returncode == 0
    assert json.loads(fine.stdout)["errors"] == 0
    edit(root, "task.yml", "precision: float32", "precision: exact")
    faulty = run(root, "affine")
    assert faulty.returncode == 1
    assert faulty.stdout.startswith("problems/affine/task.yml:15: error: precision: Input should be 'float32', 'tf32'")
    assert "1 error" in faulty.stdout
    unknown = run(root, "afine")
    assert unknown.returncode == 2
    assert "problems/afine: no such folder; it is named as the problem is, not by an alias" in unknown.stderr


@pytest.mark.parametrize("name", ["chunk_fwd_h", "fp8_quant"])
def test_our_own_problems_have_nothing_to_mend(name):
    assert check_folder(ROOT, ROOT / "problems" / name) == ()
