"""Running a problem's Python: the faults of every case at once, each once; no step for ever; steps told live."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from harness.authoring.check import check_folder, examine_in_child
from harness.qualify.examine import examine
from harness.qualify.process import ChildEndedError
from harness.spec import load_problem
from tests.qualify.conftest import AFFINE

from .conftest import HANGS_S

# The alarm of a step that has taken too long, rung by the step itself: nothing depends on the clock.
LATE = "signal.raise_signal(signal.SIGALRM)"
STUBBORN = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""


@pytest.fixture
def folder(root):
    return Path(shutil.copytree(AFFINE, root / "problems" / "affine"))


def edit(folder, name, old, new):
    path = folder / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def errors(root, folder, runs):
    found = check_folder(root, folder, runs)
    return [(Path(f.file).name, f.line, f.message) for f in found if f.level == "error"]


def here(problem, files):
    """Examine in this process, with the limit that the command has."""
    return examine(problem, files, limit_s=120)


def test_each_distributions_own_faults_are_told(root, folder):
    edit(folder, "task.yml", "  wide: x times 10", "  wide: x times 10\n  odd: as normal\n  even: as normal")
    odd = 'if distribution == "odd":\n        x = x[:2]\n    if distribution == "even":\n        1 / 0'
    edit(folder, "reference.py", "    return x, scale", f"    {odd}\n    return x, scale")
    edit(folder, "reference.py", "x = x * 10", "x = x.double()")
    assert [message for _, _, message in errors(root, folder, here)] == [
        "generate() returned x as float64; float32 is expected (distribution wide, M=4, N=8)",
        "generate() returned x with shape (2, 8); (4, 8) is expected (distribution odd, M=4, N=8)",
        "generate() raised ZeroDivisionError: division by zero at line 14: 1 / 0 (distribution even, M=4, N=8)",
    ]


def test_a_test_that_is_too_large_to_be_tried_is_told(root, folder):
    edit(folder, "task.yml", "tests:\n", "tests:\n  - {M: 70000, N: 1000000}\n")
    (found,) = [f for f in check_folder(root, folder, here) if "too many" in f.message]
    assert (found.level, Path(found.file).name) == ("warning", "task.yml")
    assert found.message.startswith("the test M=70000, N=1000000 has ")
    assert found.message.endswith("and each submission is checked on them all: make it smaller")


def test_a_fault_of_many_shapes_and_distributions_is_told_once(root, folder):
    more = "tests:\n  - {M: 5, N: 8, distribution: wide}\n  - {M: 6, N: 8}\n  - {M: 7, N: 8}\n"
    edit(folder, "task.yml", "tests:\n", more)
    edit(folder, "reference.py", "return (y,)", "return (y[1:],)")
    assert errors(root, folder, here) == [
        ("reference.py", None, "reference() returned y with shape (3, 8); (4, 8) is expected (distributions normal and "
         "wide, M=4, N=8 and 3 other shapes)")
    ]  # fmt: skip


def test_a_fault_that_one_distribution_has_at_one_shape_is_told_beside_others(root, folder):
    edit(folder, "task.yml", "tests:\n", "tests:\n  - {M: 5, N: 8, distribution: wide}\n")
    edit(folder, "reference.py", "x = x * 10", "x = x * 10 if M == 4 else x[:4]")
    edit(folder, "reference.py", "    return x, scale, offset", "    return x, scale + torch.rand(1), offset")
    assert [message for _, _, message in errors(root, folder, here)] == [
        "generate() returned x with shape (4, 8); (5, 8) is expected (distribution wide, M=5, N=8)",
        "generate() draws other inputs each time that it has the same generator: take every random number from it, so "
        "that a seed makes a sample (distribution normal, M=4, N=8)",
    ]


def test_a_step_that_takes_too_long_is_named_with_its_line_and_the_others_run(root, folder):
    edit(folder, "reference.py", "import torch\n", "import signal\n\nimport torch\n")
    edit(folder, "reference.py", "x = x * 10", LATE)
    edit(folder, "mutants.py", "MUTANTS = Mutants()", "import signal\n\nMUTANTS = Mutants()")
    edit(folder, "mutants.py", "scale[:1].expand_as(scale)", f"scale if {LATE} else scale")
    (file, line, late), (other, _, mutant) = errors(root, folder, here)
    assert (file, line, other) == ("reference.py", 12, "mutants.py")
    assert late == (
        f"generate() was stopped after 120 s at line 12: {LATE}; mend a loop that does not end, or give the tests "
        "smaller shapes (distribution wide, M=4, N=8)"
    )
    assert mutant.startswith("scale_of_the_first_row was stopped after 120 s at line ")


def test_what_had_to_be_stopped_twice_is_not_waited_for_again(root, folder):
    edit(folder, "task.yml", "tests:\n", "tests:\n  - {M: 5, N: 8}\n  - {M: 6, N: 8}\n")
    edit(folder, "reference.py", "import torch\n", "import signal\n\nimport torch\n")
    edit(folder, "reference.py", "    return (y,)", f"    {LATE}\n    return (y,)")
    found = check_folder(root, folder, here)
    assert [f.message.split(": ")[0] for f in found if f.level == "error"] == [
        "reference() was stopped after 120 s at line 19"
    ]
    assert "reference() was not run in 2 more cases: mend this first" in [f.message for f in found]


def test_a_loop_without_end_is_stopped_and_the_mutants_are_loaded_all_the_same(root, folder):
    edit(folder, "reference.py", "import torch\n", "import torch\n\nif True:\n    while True:\n        pass\n")
    edit(folder, "mutants.py", "MUTANTS.add(all_zero(compute))", "")
    found = errors(root, folder, partial(examine_in_child, limit_s=5, grace_s=HANGS_S))
    assert found[0][0] == "reference.py"
    assert found[0][2].startswith("importing it was stopped after 5 s")
    assert found[0][2].endswith("; mend a loop that does not end, or give the tests smaller shapes")
    assert found[1][0] == "mutants.py"


def test_a_step_that_cannot_be_stopped_is_killed(root, folder):
    edit(folder, "reference.py", "import torch\n", f"import torch\n{STUBBORN}")
    steps = []
    runs = partial(examine_in_child, progress=lambda *step: steps.append(step), limit_s=120, grace_s=-117)
    told = "importing it did not end in time and could not be stopped: mend a loop that does not end, or give the tests"
    assert ("reference.py", None, f"{told} smaller shapes") in errors(root, folder, runs)
    assert steps == [("reference.py: importing it", 0, 1), ("mutants.py: importing it", 0, 1)]


def test_a_process_that_ends_before_its_first_step_is_told_once(root, folder):
    def ends(problem, files):
        raise ChildEndedError(problem.name, 1, "no torch", {})

    told = "running the folder's Python failed: the process that tried affine ended with code 1:\nno torch"
    assert errors(root, folder, ends) == [("reference.py", None, told)]


def test_steps_are_shown_live_on_a_terminal_and_a_crash_is_told_with_its_step(root, folder):
    edit(folder, "reference.py", "x = x * 10", "x = x[:1]")
    edit(folder, "mutants.py", "MUTANTS = Mutants()", "import os\nprint('so far')\nos._exit(7)\nMUTANTS = Mutants()")
    ours, theirs = os.openpty()
    shown = io.BytesIO()
    reading = threading.Thread(target=read_terminal, args=(ours, shown), daemon=True)
    reading.start()
    command = [sys.executable, "-m", "harness", "check-problem", "affine"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=HANGS_S)
    os.close(theirs)
    reading.join()
    assert "mutants.py: importing it" in shown.getvalue().decode()
    assert done.returncode == 1
    assert "reference.py: error: generate() returned x with shape (1, 8); (4, 8) is expected" in done.stdout
    assert "mutants.py: error: importing it ended the process with code 7; it printed: so far\n" in done.stdout
    assert "mutants.py: warning: what comes after that was not run: mend this first\n" in done.stdout


def read_terminal(terminal, shown):
    """Keep what is written to a terminal until nobody can write to it any more."""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            shown.write(part)
    os.close(terminal)


def test_every_distribution_of_a_real_problem_is_a_step_and_all_are_counted():
    problem = load_problem(Path(__file__).parents[2] / "problems" / "softmax")
    steps = []
    assert examine(problem, ["reference.py"], steps.append)["faults"] == []
    assert {f"distribution {name}" for name in problem.distribution_names} <= {
        part for step in steps for part in step["step"].split(", ")
    }
    assert steps[-1]["total"] == len(steps)
