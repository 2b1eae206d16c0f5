"""JSON of untrusted code: what two readers could take differently is refused."""

import pytest

from harness.strict_json import parse_strict


def test_documents_are_read():
    assert parse_strict('{"a": [1, -2.5, null, {"a": "x"}], "b": true}') == {
        "a": [1, -2.5, None, {"a": "x"}],
        "b": True,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1, "a": 1}', "a name is given twice"),
        ('[{"b": {"a": 1, "\\u0061": 2}}]', "a name is given twice"),
        ("[NaN]", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("", "Expecting value"),
        ("{} {}", "Extra data"),
    ],
)
def test_what_is_refused(text, told):
    with pytest.raises(ValueError, match=told):
        parse_strict(text)


def test_a_caller_may_refuse_numbers():
    def refuse(text):
        raise ValueError(f"{text} is too large")

    assert parse_strict("[1.5]", parse_int=refuse) == [1.5]
    with pytest.raises(ValueError, match="7 is too large"):
        parse_strict("[7]", parse_int=refuse)
    with pytest.raises(ValueError, match=r"1e999 is too large"):
        parse_strict("[1e999]", parse_float=refuse)
