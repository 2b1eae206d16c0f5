"""Progress: every stage that is told of has a title, on a terminal and in a log."""

import os
import pty
import re
import subprocess
import sys
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


HOSTILE = "\x1b[2J\x1b]0;owned\x07 the\u202ecase"
TELL = f"""
from harness.cli.progress import show_progress
from harness.engine.progress import Event
with show_progress(quiet=False) as listener:
    listener(Event("replay", "advance", {HOSTILE!r}, 1, 2))
    listener(Event("trace", "printed", {HOSTILE!r}))
    listener(Event("replay", "end", {HOSTILE!r}))
"""


def test_what_a_node_says_acts_on_no_log():
    told = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True, timeout=60, check=True).stderr
    assert "the\N{REPLACEMENT CHARACTER}case" in told
    assert "owned" not in told
    assert "\x1b" not in told


def test_what_a_node_says_acts_on_no_terminal():
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", TELL], stderr=theirs, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(theirs)
        told = b""
        try:
            while data := os.read(ours, 4096):
                told += data
        except OSError:
            pass  # how the end of a terminal is told
        finally:
            os.close(ours)
    assert process.returncode == 0
    assert "the\N{REPLACEMENT CHARACTER}case" in told.decode()
    assert b"owned" not in told
    assert b"\x1b[2J" not in told
    assert "\u202e" not in told.decode()
