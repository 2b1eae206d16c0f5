"""What an organiser or a team is told of a text that is no YAML: what it is, where, and what to write."""

import pytest
import yaml

from harness.errors import SpecError
from harness.spec.document import parse_document
from harness.spec.problem import Problem
from harness.spec.season import Shapes
from harness.spec.team import Team
from harness.spec.yaml_wording import tell_yaml

COMMA = "write [a, b, c], an entry with : or , in it in quotes"
BRACES = "write {a: 1, b: 2}, a value with : or , in it in quotes"
COLUMN = "begin it in the column of what it stands beside: names below names, the dashes of a list below each other"
NAMES = "begin it in the column of the names beside it, and write a space after each colon above it"
FOLLOWS = "put all of the value in quotes, or take out what follows a closing quote or bracket"

SLIPS = [  # the text; what is told of it, and where; what to write
    ("a: 1\nt: [b, c\nd: 2\n", "a list that is not closed, or lacks a comma, at line 2, column 4 ('t: [b, c')", COMMA),
    ("a: [[1] [2]]\n", "a list that is not closed, or lacks a comma, at line 1, column 4 ('a: [[1] [2]]')", COMMA),
    (
        "a: {b: 1 c: 2}\n",
        "a mapping that is not closed, or lacks a comma, at line 1, column 4 ('a: {b: 1 c: 2}')",
        BRACES,
    ),
    (
        "a: 1\nb\nc: 2\n",
        "a line that is neither a name with its value nor part of one at line 2, column 1 ('b')",
        "write `name: value`, with a space after the colon",
    ),
    (
        "b: 1\na:2\nc: 3\n",
        "a line that is neither a name with its value nor part of one at line 2, column 1 ('a:2')",
        "write `name: value`, with a space after the colon",
    ),
    ("a:1\nb: 2\n", "a colon where none can stand at line 2, column 2 ('b: 2')", NAMES),
    ("a: 1\n  b: 2\n", "a colon where none can stand at line 2, column 4 ('b: 2')", NAMES),
    (
        "title: Sum: of two\n",
        "a colon where none can stand at line 1, column 11 ('title: Sum: of two')",
        'put the value in quotes, title: "Sum: of two"',
    ),
    (
        'title: "Sum": it\'s two\n',
        "a colon where none can stand at line 1, column 13 ('title: \"Sum\": it\\'s two')",
        "put the value in quotes, title: '\"Sum\": it''s two'",
    ),
    (
        'a: "x\nb: 1\n',
        "a quote that is not closed at line 1, column 4 ('a: \"x')",
        "close it; within single quotes, one is written twice, ''",
    ),
    ("a: 'it's'\nb: 1\n", "text that is no `name: value` of the mapping at line 1, column 8 (\"a: 'it's'\")", FOLLOWS),
    ("a: [b]]\n", "text that is no `name: value` of the mapping at line 1, column 7 ('a: [b]]')", FOLLOWS),
    ("a:\n    b: 1\n  c: 2\n", "text that is no `name: value` of the mapping at line 3, column 3 ('c: 2')", COLUMN),
    ("a:\n  - b\n - c\n", "text that is no `name: value` of the mapping at line 3, column 2 ('- c')", COLUMN),
    (
        "a:\n  - b\n  c: 1\n",
        "text that is no entry of the list at line 3, column 3 ('c: 1')",
        "begin each entry with `- `, in one column",
    ),
    (
        "a: - b\n",
        "a list's first entry behind a name at line 1, column 4 ('a: - b')",
        "begin it on a line of its own, or write [a, b]",
    ),
    (
        "a:\n\tb: 1\n",
        "a character that begins nothing at line 2, column 1 ('b: 1')",
        "indent with spaces, never with a tab",
    ),
    (
        "a: @x\n",
        "a character that begins nothing at line 1, column 4 ('a: @x')",
        "a value cannot begin with @: put it in quotes",
    ),
    ("a: *4 + n\n", "a value that begins with * at line 1, column 4 ('a: *4 + n')", "put the value in quotes"),
    ("a: & x\n", "a value that begins with & at line 1, column 5 ('a: & x')", "put the value in quotes"),
    ("a: ? b\n", "a value that begins with ? at line 1, column 4 ('a: ? b')", "put the value in quotes"),
    (
        "a: !foo x\n",
        "a tag, a word that begins with !, at line 1, column 4 ('a: !foo x')",
        "leave it out, or put the value in quotes if it is part of it",
    ),
    ("a: >x\n", "text behind | or > at line 1, column 5 ('a: >x')", "begin it on the next line, indented"),
    ("a: ]\n", "a bracket that closes nothing at line 1, column 4 ('a: ]')", "take it out, or put the value in quotes"),
    ("a: {{x}}\n", "a name that is a list or a mapping at line 1, column 5 ('a: {{x}}')", "put it in quotes"),
    ("a: 1\n---\nb: 2\n", "a second document at line 2, column 1 ('---')", "write one: take out the line --- or ..."),
    ("a: 1\nb: \x01\n", "the character U+0001 at line 2, column 4 ('b: \\x01')", "take it out"),
    ("a: 1\n\x00\n", "the character U+0000 at line 2, column 1 ('\\x00')", "take it out"),
]


@pytest.mark.parametrize(("text", "told", "advice"), SLIPS)
def test_a_slip_says_where_it_is_and_what_to_write(text, told, advice):
    with pytest.raises(SpecError) as caught:
        parse_document(text, "F", Team)
    assert str(caught.value) == f"F: not valid YAML: {told}: {advice}"


@pytest.mark.parametrize(("text", "told", "advice"), SLIPS)
def test_a_slip_is_told_alike_without_libyaml(text, told, advice):
    with pytest.raises(yaml.YAMLError) as caught:
        yaml.load(text, Loader=yaml.SafeLoader)
    assert tell_yaml(caught.value, text) == f"{told}: {advice}"


def test_a_complaint_that_nobody_foresaw_keeps_its_words_and_has_a_line():
    mark = yaml.Mark("x", 0, 1, 2, None, 0)
    assert tell_yaml(yaml.MarkedYAMLError(None, None, "it is odd", mark), "a: 1\nb: 2\n") == (
        "it is odd at line 2, column 3 ('b: 2')"
    )
    assert tell_yaml(yaml.MarkedYAMLError("it is odd"), "") == "it is odd"
    assert tell_yaml(yaml.YAMLError(), "a: 1") == "it holds a character that YAML does not take"


@pytest.mark.parametrize("text", ["a: [\x85" + "\u202e" * 500, "a: \u202e\u2066b: c", "a: " + "b" * 900 + ": c"])
def test_what_is_quoted_is_short_and_escaped(text):
    with pytest.raises(SpecError) as caught:
        parse_document(text + "\n", "F", Team)
    assert len(str(caught.value)) < 700
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("model", "file"), [(Problem, "task.yml"), (Shapes, "shapes.yaml"), (Team, "team.yml")])
def test_each_document_names_its_file_and_the_line(model, file):
    with pytest.raises(SpecError, match=f"^problems/x/{file}: not valid YAML: .* at line 2, column 8 "):
        parse_document("title: Sum\nname: a: b\n", f"problems/x/{file}", model)


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
@pytest.mark.parametrize("text", ["a: 1\n\tb: 2\n", "a: |\n\ttext\nb: 1\n", "a: >\n  text\n\tb: 1\n"])
def test_a_tab_is_told_wherever_it_indents(loader, text):
    with pytest.raises(yaml.YAMLError) as caught:
        yaml.load(text, Loader=loader)
    assert tell_yaml(caught.value, text).endswith(": indent with spaces, never with a tab")
