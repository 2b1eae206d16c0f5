"""The verb: exit codes, messages, JSON; the child process with what can go wrong in it."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from harness.cli.qualify_report import fit

from .conftest import AFFINE

TEMPLATE = Path(__file__).parents[1] / "workspace"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "w"
    shutil.copytree(TEMPLATE, root)
    shutil.copytree(AFFINE, root / "problems" / "affine")
    return root


def run(root, *arguments):
    command = [sys.executable, "-m", "harness", "qualify", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)


def test_a_sound_problem_exits_with_0(root):
    result = run(root, "affine", "--seeds", "2")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("QUALIFIED  affine · version ")
    assert "scale_of_the_first_row" in result.stdout
    assert "Suite default ranks; every mutant is refused and every condition met." in result.stdout
    assert "qualify 0/7 affine default: test/M4_N8/normal" in result.stderr


def run_in_terminal(root, columns, *arguments):
    """Return what a terminal of so many columns is shown."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"NO_COLOR": "1"}
    command = [sys.executable, "-m", "harness", "qualify", *arguments]
    with subprocess.Popen(command, cwd=root, stdout=theirs, stderr=subprocess.DEVNULL, env=environment):
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
            while part := os.read(ours, 1 << 16):
                shown += part
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


@pytest.mark.parametrize(("columns", "tables"), [(38, 3), (200, 2)])
def test_every_number_is_shown_whole_however_narrow_the_terminal(root, columns, tables):
    """There are two suites; the first one's distributions stand side by side or below one another."""
    text = run_in_terminal(root, columns, "affine", "--seeds", "2", "--no-kernels")
    assert "…" not in text
    assert text.count(" scale_of_the_first_row ") == tables


@pytest.mark.parametrize(
    ("widths", "columns", "parts"),
    [
        ([], 10, [[]]),
        ([3, 3], 10, [[3, 3]]),
        ([3, 3, 3], 10, [[3, 3], [3]]),
        ([30, 3], 10, [[30], [3]]),
        ([3, 30, 3], 10, [[3], [30], [3]]),
    ],
)
def test_columns_stand_side_by_side_as_far_as_they_fit(widths, columns, parts):
    assert [widths[part] for part in fit(widths, columns)] == parts


def test_a_weak_problem_exits_with_1_and_json_has_the_sentence(root):
    task = root / "problems" / "affine" / "task.yml"
    text = task.read_text().replace("rtol: 1.0e-3, atol: 1.0e-3, relative_l2: 1.0e-3", "rtol: 1.0e-2, atol: 1.0e-2")
    task.write_text(text)
    result = run(root, "affine", "--suite", "default", "--json")
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert document["qualified"] is False
    assert document["problem"] == "affine"
    [suite] = document["suites"]
    assert [fault["condition"] for fault in suite["faults"]] == ["precision"]
    assert suite["faults"][0]["message"].startswith("bfloat16 operands pass every case of suite default (at most 0.")
    assert {"case", "candidate", "refused", "error"} <= set(suite["trials"][0])
    assert result.stderr == ""


def test_a_suite_that_never_ranks_decides_when_it_is_asked_for(root):
    reference = root / "problems" / "affine" / "reference.py"
    reference.write_text(reference.read_text().replace("return x, scale, offset", "return x, scale, offset * 0"))
    result = run(root, "affine", "--suite", "weak")
    assert result.returncode == 1
    assert result.stdout.startswith("NOT QUALIFIED")
    assert "Suite weak never ranks; 1 mutant passes: offset_missing" in " ".join(result.stdout.split())
    assert "• offset_missing passes every case of suite weak" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["afine"], "unknown problem 'afine'. Did you mean affine?"),
        (["affine", "--suite", "none"], "affine has no suite 'none'; suites: default, weak"),
        (["affine", "--seeds", "1"], "1 is not in the range x>=2"),
        (["scale"], "problems/scale/mutants.py: no such file; a problem needs compute() and MUTANTS there"),
    ],
)
def test_bad_usage_says_what_to_do(root, arguments, told):
    result = run(root, *arguments)
    assert result.returncode == 2, result.stderr
    assert told in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_crash_of_the_organisers_code_is_told(root):
    mutants = root / "problems" / "affine" / "mutants.py"
    mutants.write_text("import os, sys\nprint('so far', file=sys.stderr)\nos._exit(7)\n")
    result = run(root, "affine")
    assert result.returncode == 3
    assert "the process that tried affine ended with code 7:" in result.stderr
    assert "so far" in result.stderr


def test_markdown_is_all_that_stdout_has_whatever_mutants_py_prints(root):
    mutants = root / "problems" / "affine" / "mutants.py"
    mutants.write_text(mutants.read_text() + "\nprint('hello from mutants.py')\n")
    result = run(root, "affine", "--suite", "default", "--markdown")
    assert result.returncode == 0
    assert result.stdout.startswith("`harness qualify affine` tries the honest kernel")
    assert "hello" not in result.stdout


UNTRIED = {
    "no such file; a problem needs compute() and MUTANTS there to be qualified": (None, 1),
    "mutants.py: importing it raised ModuleNotFoundError: No module named 'gone' at line 2": ("\nimport gone\n", 1),
    "the process that tried scale ended with code 7:": ("import os\nos._exit(7)\n", 3),
}


@pytest.mark.parametrize("told", UNTRIED)
@pytest.mark.parametrize("names", [[], ["scale", "affine"]])
def test_a_problem_that_cannot_be_tried_stands_in_no_others_way(root, told, names):
    (root / "shapes.yaml").write_text((root / "shapes.yaml").read_text() + "    affine: {points: 10}\n")
    source, code = UNTRIED[told]
    if source is not None:
        (root / "problems" / "scale" / "mutants.py").write_text(source)
    result = run(root, *names, "--suite", "default", "--seeds", "2", "--no-kernels")
    assert result.returncode == code, result.stderr
    assert result.stdout.startswith("QUALIFIED  affine · version ")
    assert "error: scale is not qualified: " in result.stderr
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_problem_that_cannot_be_tried_is_in_json_too(root):
    result = run(root, "scale", "affine", "--suite", "default", "--seeds", "2", "--no-kernels", "--json")
    good, bad = json.loads(result.stdout)
    assert (good["problem"], good["qualified"]) == ("affine", True)
    assert (bad["problem"], bad["qualified"]) == ("scale", False)
    assert "mutants.py: no such file" in bad["error"]
    assert result.returncode == 1
