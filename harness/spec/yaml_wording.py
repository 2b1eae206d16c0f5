"""What is wrong with a text that is no YAML, in our words: what it is, at which line, and what to write instead.

PyYAML and libyaml name what their grammar expected ("did not find expected key"), which tells an organiser little, and
often the place where they gave up rather than the one to mend. Each of their complaints that a slip of the pen can lead
to has an entry here; one that has none is passed on as they put it, with its line. Pure. The text may be anybody's:
what is quoted of it is short and escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

SHOWN_CHARACTERS = 60

_TOO_DEEP = "nested too deeply: write fewer brackets"


@dataclass(frozen=True)
class _Place:
    """A place in a text.

    Attributes:
        lines: all of them.
        line, column: both from 0, as PyYAML counts.
    """

    lines: list[str]
    line: int
    column: int

    @property
    def text(self) -> str:
        """The line."""
        return self.lines[self.line] if self.line < len(self.lines) else ""

    @property
    def before(self) -> str:
        """What stands before the place in its line."""
        return self.text[: self.column]

    @property
    def found(self) -> str:
        """The character there; "" at a line's end."""
        return self.text[self.column : self.column + 1]


@dataclass(frozen=True)
class _Complaint:
    """A complaint of the parser's, and ours in its place.

    Attributes:
        context, problem: of the parser's sentences, patterns of what it was doing and what it met.
        what: what is wrong, as a noun; "at line ..." follows.
        advice: what to write.
        where_begun: the place to mend is where that began, not where it was given up.
    """

    context: str
    problem: str
    what: str
    advice: str | Callable[[_Place], str]
    where_begun: bool = False


def _mend_value(place: _Place) -> str:
    """A second colon in a line is one of its value's; else the line begins in a column where no name can."""
    name, colon, value = place.text.partition(": ")
    if colon and ": " in place.before + " ":
        line = f"{name.strip()}: {_quoted(value)}"
        whole = line.isprintable() and len(value.strip()) <= SHOWN_CHARACTERS
        return f"put the value in quotes, {line}" if whole else "put the value in quotes"
    return "begin it in the column of the names beside it, and write a space after each colon above it"


def _mend_place(place: _Place) -> str:
    """What begins a line is in the wrong column; what does not, is more than its value."""
    if place.before.strip():
        return "put all of the value in quotes, or take out what follows a closing quote or bracket"
    return "begin it in the column of what it stands beside: names below names, the dashes of a list below each other"


def _mend_block(place: _Place) -> str:
    tab = "\t" in (place.found, place.before[-1:])
    return "indent with spaces, never with a tab" if tab else "begin it on the next line, indented"


def _mend_character(place: _Place) -> str:
    if "\t" in (place.found, place.before[-1:]):
        return "indent with spaces, never with a tab"
    return f"a value cannot begin with {place.found}: put it in quotes"


_QUOTE_IT = "put the value in quotes"

_COMPLAINTS = (
    _Complaint("flow sequence", r"expected ',' or '\]'", "a list that is not closed, or lacks a comma,",
               "write [a, b, c], an entry with : or , in it in quotes", where_begun=True),
    _Complaint("flow mapping", r"expected ',' or '\}'", "a mapping that is not closed, or lacks a comma,",
               "write {a: 1, b: 2}, a value with : or , in it in quotes", where_begun=True),
    _Complaint("simple key", "expected ':'", "a line that is neither a name with its value nor part of one",
               "write `name: value`, with a space after the colon", where_begun=True),
    _Complaint("quoted scalar|double-quoted", "end of stream", "a quote that is not closed",
               "close it; within single quotes, one is written twice, ''", where_begun=True),
    _Complaint("", "unknown escape", "a backslash in double quotes", r"write \\, or use single quotes"),
    _Complaint("", "mapping values are not allowed", "a colon where none can stand", _mend_value),
    _Complaint("", "mapping keys are not allowed", "a value that begins with ?", _QUOTE_IT),
    _Complaint("", "sequence entries are not allowed", "a list's first entry behind a name",
               "begin it on a line of its own, or write [a, b]"),
    _Complaint("block collection", "expected", "text that is no entry of the list",
               "begin each entry with `- `, in one column"),
    _Complaint("block mapping", "expected", "text that is no `name: value` of the mapping", _mend_place),
    _Complaint("block scalar", "expected", "text behind | or >", _mend_block),
    _Complaint("", "character.* (cannot start any token|violates indentation)", "a character that begins nothing",
               _mend_character),
    _Complaint("", "undefined alias", "a value that begins with *", _QUOTE_IT),
    _Complaint("anchor", "", "a value that begins with &", _QUOTE_IT),
    _Complaint("", "2002:merge|for merging", "the name <<", "put it in quotes: nothing is merged"),
    _Complaint("", "constructor for the tag", "a tag, a word that begins with !,",
               "leave it out, or put the value in quotes if it is part of it"),
    _Complaint("", "unhashable key", "a name that is a list or a mapping", "put it in quotes"),
    _Complaint("", "node content", "a bracket that closes nothing", "take it out, or put the value in quotes"),
    _Complaint("directive", "", "a line that begins with %", "put it in quotes"),
    _Complaint("", "another document|<document start>", "a second document", "write one: take out the line --- or ..."),
    _Complaint("", "nesting depth", "a bracket", _TOO_DEEP),
)  # fmt: skip


def tell_yaml(error: yaml.YAMLError, text: str) -> str:
    """Say what is wrong with a text, where ("at line 2, column 5"), what stands there, and what to write.

    Args:
        error: of its parser.
        text: what was parsed.
    """
    lines = text.splitlines()
    if not isinstance(error, yaml.MarkedYAMLError):
        return _tell_character(text, lines)
    told = str(error.problem or error.context or "it cannot be read")
    known = next(_matching(error.context or "", told), None)
    begun = known is not None and known.where_begun and error.context_mark is not None
    mark = error.context_mark if begun else error.problem_mark or error.context_mark
    if mark is None:
        return told
    place = _Place(lines, mark.line, mark.column)
    if known is None:
        return _at(told, place)
    return f"{_at(known.what, place)}: {known.advice if isinstance(known.advice, str) else known.advice(place)}"


def _matching(context: str, problem: str) -> Iterator[_Complaint]:
    return (one for one in _COMPLAINTS if re.search(one.context, context) and re.search(one.problem, problem))


def _tell_character(text: str, lines: list[str]) -> str:
    """Say which character no YAML may hold; the reader has no more to tell than its number."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if found is None:
        return "it holds a character that YAML does not take"
    read = (text[: found.start()] + " ").splitlines()
    place = _Place(lines, len(read) - 1, len(read[-1]) - 1)
    return f"{_at(f'the character U+{ord(found[0]):04X}', place)}: take it out"


def _at(what: str, place: _Place) -> str:
    shown = place.text.strip()[:SHOWN_CHARACTERS]
    return f"{what} at line {place.line + 1}, column {place.column + 1}" + (f" ({shown!r})" if shown else "")


def _quoted(value: str) -> str:
    kept = value.strip()[:SHOWN_CHARACTERS]
    return "'" + kept.replace("'", "''") + "'" if '"' in kept or "\\" in kept else f'"{kept}"'
