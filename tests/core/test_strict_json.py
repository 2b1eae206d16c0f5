"""JSON of untrusted code: what two readers could take differently is refused."""

import re
from pathlib import Path

import pytest

import harness
from harness.strict_json import number, parse_object, parse_strict, text


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


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        (b'{"a": 1}', {"a": 1}),
        ("[1]", None),
        ("{", None),
        (b"\xff{}", None),
        ('{"a": 1, "a": 2}', None),
        ('{"a": NaN}', None),
        ("[" * 100_000, None),
    ],
)
def test_a_line_of_a_childs_output_is_an_object_or_nothing(line, found):
    assert parse_object(line) == found


def test_what_is_not_of_its_kind_is_passed_over():
    fields = {"n": 2, "f": 0.5, "true": True, "below": -1, "huge": 10**12, "t": "text"}
    assert [number(fields, name) for name in (*fields, "none")] == [2.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert [text(fields, name, 3) for name in ("t", "n", "none")] == ["tex", "", ""]


LENIENT = {
    "bootstrap": "runs before the package is there; what it fetches is held against a hash",
    "assemble/__main__": "its request is ours; results are its own children's, all of one sandbox",
    "cli/ci/season": "another verb of ours",
    "qualify/asked": "a request of ours",
    "qualify/probe": "a request of ours",
    "qualify/process": "our own child, which runs the organisers' code",
    "replay/cpu/programs": "forks of the same process",
    "replay/cpu/worker": "requests of ours",
    "replay/gpu/runner": "requests of ours",
    "replay/judge": "requests of ours",
    "replay/judge_client": "the judge is believed",
    "replay/node/__main__": "a request of ours",
    "replay/node/cpu_node": "a request of ours",
    "replay/node/problem_document": "written by whoever asks, who is believed",
    "service/__main__": "arguments of ours",
    "service/backup": "the service's own copy of its database",
    "service/received": "packed by the service itself",
    "strict_json": "the reader itself",
    "trace/child": "a request of ours",
}
"""Where the standard library's reader is used as it is, and why that is well."""


def test_what_others_wrote_is_read_strictly():
    package = Path(harness.__file__).parent
    found = {
        str(path.relative_to(package).with_suffix(""))
        for path in package.rglob("*.py")
        if re.search(r"\bjson\.loads?\(", path.read_text(encoding="utf-8"))
    }
    assert found <= set(LENIENT)
