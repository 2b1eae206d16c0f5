"""Devices and descriptors that our own programs are handed: they get these and no other."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level, Limits, python_mounts, start
from harness.sandbox.seccomp import build_filter
from harness.sandbox.syscalls import number_of
from tests.sandbox.attacks import ROOMY
from tests.sandbox.test_seccomp import judge

LIMITS = Limits(**ROOMY)  # type: ignore[arg-type]
HARMLESS = ("/dev/fuse", "/dev/net/tun")  # nodes that anybody may open, and that no sandbox has by itself
PROGRAM = """
import os
for path in {paths!r}:
    try:
        os.close(os.open(path, os.O_RDWR))
        print("opened")
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture
def nodes() -> list[Path]:
    everybody = 0o006
    found = [Path(p) for p in HARMLESS if Path(p).is_char_device() and Path(p).stat().st_mode & everybody == everybody]
    if not found:
        pytest.skip(f"none of {', '.join(HARMLESS)} is here for everybody")
    return found


def execute(program: str, level: str, scratch: Path, **more: object) -> str:
    command = [sys.executable, "-I", "-S", "-c", program]
    handed = {"level": Level(level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS, **more}
    with start(command, **handed) as job:  # type: ignore[arg-type]
        output = "\n".join(job.lines())
        end = job.wait()
    assert end.code == 0, end.stderr
    return output


def test_a_device_is_there_for_whom_it_is_handed_to(level: str, nodes: list[Path], scratch: Path) -> None:
    program = PROGRAM.format(paths=[str(node) for node in nodes])
    assert "opened" not in execute(program, level, scratch)
    assert execute(program, level, scratch, devices=nodes).split() == ["opened"] * len(nodes)


def test_one_device_does_not_bring_another(level: str, nodes: list[Path], scratch: Path) -> None:
    if len(nodes) < 2:
        pytest.skip("one device only")
    program = PROGRAM.format(paths=[str(node) for node in nodes])
    first, second = execute(program, level, scratch, devices=nodes[:1]).split()
    assert first == "opened"
    assert second in ("FileNotFoundError", "PermissionError")


def test_a_missing_device_is_named(scratch: Path) -> None:
    with pytest.raises(SandboxError, match="/dev/nvidia-that-is-not does not exist"):
        execute("", "none", scratch, devices=[Path("/dev/nvidia-that-is-not")])


def test_a_descriptor_is_kept_under_its_number(any_level: str, scratch: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answers:
        program = f"import os; os.write({writing}, b'heard')"
        execute(program, any_level, scratch, descriptors=[writing])
        os.close(writing)
        assert answers.read() == b"heard"


def test_many_descriptors_keep_their_numbers_and_no_other_is_there(any_level: str, scratch: Path) -> None:
    """Numbers that the fork uses itself, in an order that is not theirs, and one far above them."""
    files = [os.memfd_create(f"given-{number}") for number in range(12)]
    high = fcntl.fcntl(files[3], fcntl.F_DUPFD, 700)
    given = [*files[::-2], high, *files[::2]]
    program = (
        "import os\n"
        "for number in range(3, 1024):\n"
        "    try: print(number, os.readlink(f'/proc/self/fd/{number}'))\n"
        "    except FileNotFoundError: pass"
    )
    try:
        expected = [f"{number} {Path(f'/proc/self/fd/{number}').readlink()}" for number in sorted(given)]
        assert execute(program, any_level, scratch, descriptors=given).splitlines() == expected
    finally:
        for number in (*files, high):
            os.close(number)


@pytest.mark.parametrize("level", [Level.STRICT, Level.RESTRICTED], ids=str)
def test_drivers_may_share_memory_and_submissions_may_not(level: Level) -> None:
    number = number_of("memfd_create", "x86_64")
    assert number is not None
    assert judge(build_filter(level, machine="x86_64"), "x86_64", number) == 1
    assert judge(build_filter(level, drivers=True, machine="x86_64"), "x86_64", number) == "allow"
