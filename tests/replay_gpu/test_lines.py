"""Lines of a child process, read within limits."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from harness.replay.lines import Lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def test_lines_come_one_by_one_however_they_were_written(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[0], 100)
    os.write(pipe[1], b"one\ntwo\nth")
    assert [lines.read(60), lines.read(60)] == [b"one", b"two"]
    os.write(pipe[1], b"ree\n")
    os.close(pipe[1])
    assert lines.read(60) == b"three"
    with pytest.raises(EOFError):
        lines.read(60)


def test_a_line_that_does_not_come_in_time_and_comes_later(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[0], 100)
    os.write(pipe[1], b"be")
    with pytest.raises(TimeoutError):
        lines.read(0)
    os.write(pipe[1], b"gun\n")
    assert lines.read(60) == b"begun"
    os.close(pipe[1])


def test_a_line_without_an_end_is_not_kept(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"x" * 60_000)
    os.close(pipe[1])
    with pytest.raises(EOFError):
        Lines(pipe[0], 100).read(60)


@pytest.mark.parametrize("awake_s", [0.0, 0.001, 60.0])
def test_a_line_that_comes_later_is_waited_for_awake_or_asleep(pipe: tuple[int, int], awake_s: float) -> None:
    lines = Lines(pipe[0], 100, awake_s)
    writer = threading.Timer(0.05, lambda: (os.write(pipe[1], b"late\n"), os.close(pipe[1])))
    writer.start()
    assert lines.read() == b"late", "without a limit of time"
    with pytest.raises(EOFError):
        lines.read()
    writer.join()


def test_staying_awake_is_no_more_time(pipe: tuple[int, int]) -> None:
    with pytest.raises(TimeoutError):
        Lines(pipe[0], 100, awake_s=600).read(0.01)
    os.close(pipe[1])
