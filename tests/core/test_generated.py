"""The form in which Helion writes its kernels: everything that it printed has it, what others print has not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.plan import parse_plan
from harness.policy.generated import SourceLine, find_departures, find_source_lines

KERNELS = Path(__file__).parents[1] / "replay_cpu" / "kernels"
GOOD = (KERNELS / "softmax_two_pass.py").read_text() + "\n"
(LAUNCH,) = parse_plan(json.loads((KERNELS / "softmax_two_pass.json").read_text())).launches


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_what_helion_writes_has_no_departures(path: Path) -> None:
    for launch in parse_plan(json.loads(path.with_suffix(".json").read_text())).launches:
        assert find_departures(path.read_text(), launch.function) == ()


def test_lines_of_the_author() -> None:
    lines = find_source_lines(GOOD)
    assert lines
    assert all(isinstance(line, SourceLine) and line.line > 0 and line.file.endswith(".py") for line in lines)
    assert len(set(lines)) == len(lines)


HAND_WRITTEN = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef fast(x):\n    tl.store(x, 1.0)\n"


def test_a_kernel_by_hand() -> None:
    assert find_departures(HAND_WRITTEN, "fast") == (
        "the kernel is named fast, without _helion_",
        "no host function launches fast through _launcher",
        "no comment names a line of the author's source",
    )


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ("import os\n", "imports os"),
        ("from ctypes import CDLL\n", "imports from ctypes"),
        ("print(1)\n", "a statement that does something at import"),
        ("A = 3\n", "Assign beside functions and constants"),
        ("for i in range(3):\n    pass\n", "For beside"),
        ("@triton.autotune\ndef f():\n    pass\n", "a decorator other than triton.jit"),
    ],
)
def test_what_helion_never_writes(added: str, told: str) -> None:
    departures = find_departures(GOOD + added, LAUNCH.function)
    assert len(departures) == 1
    assert told in departures[0]


@pytest.mark.parametrize("source", ["def :", "x = 1\0", "(" * 5000])
def test_what_is_no_source(source: str) -> None:
    assert find_departures(source, "_helion_x") == ("it is not Python",)
