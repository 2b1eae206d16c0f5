"""Untrusted text made fit to show."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sandbox.output import Output
from harness.sandbox.text import MAX_LINE_CHARACTERS, clean_bytes


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
