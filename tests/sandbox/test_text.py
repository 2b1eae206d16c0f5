"""Untrusted text made fit to show."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sandbox.output import Output
from harness.sandbox.text import MAX_LINE_CHARACTERS, clean, clean_bytes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1bPdevice\x1b\\after", "after"),
        ("\x1b[2J\x1b[Hcleared", "cleared"),
        ("\x9b31mred", "red"),
        ("\x1b", ""),
        ("\x1b[", ""),
        ("\x1b]0;never ended", "0;never ended"),
        ("a\rb\r\nc", "a\nb\nc"),
        ("bell\x07 back\x08 nul\x00", "bell back nul"),
        ("right\u202eleft\u2066\u200b", "rightleft"),
        ("half \ud800", "half "),
        ("Ünïcode 漢字 ✓", "Ünïcode 漢字 ✓"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


@settings(deadline=None, max_examples=60)
@given(st.text())
def test_clean_text_is_printable_and_stays_as_it_is(text: str) -> None:
    shown = clean(text)
    assert clean(shown) == shown
    assert not any(ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160 for c in shown)
    shown.encode()


def test_bytes_that_are_not_text() -> None:
    assert clean_bytes(b"a\xff\xfeb") == "a��b"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=50), max_size=20))
def test_lines_do_not_depend_on_the_chunks(chunks: list[bytes]) -> None:
    pieces, whole = Output(1 << 20), Output(1 << 20)
    for chunk in chunks:
        assert pieces.take(chunk, is_stdout=True)
    whole.take(b"".join(chunks), is_stdout=True)
    pieces.close()
    whole.close()
    assert list(pieces.lines()) == list(whole.lines())


def test_output_is_bounded() -> None:
    output = Output(10 * MAX_LINE_CHARACTERS)
    assert output.take(b"x" * 5 * MAX_LINE_CHARACTERS, is_stdout=True)
    assert not output.take(b"y" * 6 * MAX_LINE_CHARACTERS, is_stdout=True)
    assert output.take(b"e" * 5 * MAX_LINE_CHARACTERS + b"end", is_stdout=False)
    output.close()
    (line,) = output.lines()
    assert len(line) == MAX_LINE_CHARACTERS
    assert len(output.stderr()) == 1 << 16
    assert output.stderr().endswith("end")
