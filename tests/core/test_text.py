"""The one gate for other people's text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.text import clean

R = "\N{REPLACEMENT CHARACTER}"


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
        ("\x1b", R),
        ("\x1b]0;never ended", "0;never ended"),
        ("a\rb\r\nc", "a\nb\nc"),
        ("bell\x07 back\x08 nul\x00", f"bell{R} back{R} nul{R}"),
        ("right\u202eleft\u2066\u200b", f"right{R}left{R}{R}"),
        ("half \ud800", f"half {R}"),
        ("Ünïcode 漢字 ✓", "Ünïcode 漢字 ✓"),
    ],
)
def test_with_lines(text, shown):
    assert clean(text, lines=True) == shown


@pytest.mark.parametrize(("text", "shown"), [("a\nb\tc\r\nd", "a b c d"), ("plain", "plain"), ("a\x08b", f"a{R}b")])
def test_on_one_line(text, shown):
    assert clean(text) == shown


@settings(deadline=None, max_examples=60)
@given(st.text())
def test_what_is_clean_stays_as_it_is_and_can_be_printed(text):
    shown = clean(text, lines=True)
    assert clean(shown, lines=True) == shown
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in shown)
    shown.encode()
