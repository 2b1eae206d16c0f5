"""Progress: every stage that is told of has a title, on a terminal and in a log."""

import re
from pathlib import Path

import harness
from harness.cli.progress import TITLES, show_progress
from harness.engine.progress import Event

PACKAGE = Path(harness.__file__).parent
OTHERS = ("cli/check_problem.py", "cli/qualify.py", "client/narrating.py", "service/evaluating.py")
TELLING = [*PACKAGE.glob("engine/*.py"), *(PACKAGE / name for name in OTHERS)]
STAGES = {stage for path in TELLING for stage in re.findall(r"Event\(\"(\w+)\"", path.read_text())}


def test_every_stage_has_a_title():
    assert set(TITLES) == STAGES


def test_a_log_has_a_line_for_what_advances_and_ends(capsys):
    with show_progress(quiet=False) as listener:
        for stage in sorted(STAGES):
            listener(Event(stage, "start", total=2))
            listener(Event(stage, "advance", "one", 1, 2))
            listener(Event(stage, "end", "all of it"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 * len(STAGES)
    assert all("one" in line or "all of it" in line for line in lines)


def test_what_a_submission_prints_is_marked_as_its_own_and_cut(capsys):
    with show_progress(quiet=False) as listener:
        listener(Event("trace", "printed", "".join(f"line {i}\n" for i in range(30))))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "  submission | ..."
    assert lines[1:] == [f"  submission | line {i}" for i in range(10, 30)]
