"""Devices and descriptors that our own programs are handed: they get these and no other."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level, Limits, python_mounts, remove_tree, start, why_not
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
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sandbox-test-"))
    yield folder
    remove_tree(folder)


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


@pytest.mark.parametrize("level", [Level.STRICT, Level.RESTRICTED, Level.NONE], ids=str)
def test_a_descriptor_is_kept_under_its_number(level: Level, scratch: Path) -> None:
    if reason := why_not(level):
        pytest.skip(reason)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answers:
        program = f"import os; os.write({writing}, b'heard')"
        execute(program, str(level), scratch, descriptors=[writing])
        os.close(writing)
        assert answers.read() == b"heard"


@pytest.mark.parametrize("level", [Level.STRICT, Level.RESTRICTED], ids=str)
def test_drivers_may_share_memory_and_submissions_may_not(level: Level) -> None:
    number = number_of("memfd_create", "x86_64")
    assert number is not None
    assert judge(build_filter(level, machine="x86_64"), "x86_64", number) == 1
    assert judge(build_filter(level, drivers=True, machine="x86_64"), "x86_64", number) == "allow"
