"""What of a record is a team's code, and a record without it: for everyone else, until the season shows code. Pure.

Code is in the lines of a traceback, in messages that quote what a compiler stumbled over, and in what the evaluation
kept for the author's eyes (`details`). Where a submission failed, by how much, and what was compiled are no code.
Every page, export and answer that shows other teams' records passes them through here first.
"""

from __future__ import annotations

import re
from dataclasses import replace

from harness.frame import Frame
from harness.store.record import Record, VerdictRecord

_OWN_WORDS = ("budget_spent",)
"""Reasons whose messages are ours from end to end. Any other may go on with lines of the program, or of what was made
of it."""

_ASSEMBLY = re.compile(r"(inline assembly)\b(?: \('.*'\)| \(\".*\"\)|( is not interpreted): .*)", re.DOTALL)
_INTERPRETER = re.compile(r"(the interpreter's process ended early \([^)]*\)|the interpreter stopped): .*", re.DOTALL)
_REFUSED = re.compile(r"(inline assembly) (?:that|with) .*", re.DOTALL)  # what it names, or what cannot be read of it
_REFUSED_REASON = "refused_operation"
_SYNTAX = ("syntax_error",)

_MOST = 4000
"""Characters of a message: ours have no more, and what a team has posted would keep the patterns busy for minutes."""


def conceal(record: Record) -> Record:
    """Return a record without its team's code."""
    verdict = record.verdict
    if verdict is None:
        return record
    cases = tuple(replace(case, message=_first_line(case.message)) for case in record.cases)
    return replace(record, verdict=_conceal_verdict(verdict), cases=cases)


def hides_something(record: Record) -> bool:
    """Say whether a reader of the concealed record misses something."""
    hidden = conceal(record)
    if record.verdict is None or hidden.verdict is None:
        return False
    shown = [[item.verdict.message if item.verdict else "", *(case.message for case in item.cases)]
             for item in (record, hidden)]  # fmt: skip
    return bool(record.verdict.traceback) or shown[0] != shown[1]


def _conceal_verdict(verdict: VerdictRecord) -> VerdictRecord:
    lines = tuple(Frame(line.line, line.function, "") for line in verdict.traceback)
    message = verdict.message if verdict.reason in _OWN_WORDS else _first_line(verdict.message)
    if verdict.reason == _REFUSED_REASON:
        message = _REFUSED.sub(r"\1", message)
    if verdict.reason in _SYNTAX:
        message = "syntax error"
    return replace(verdict, message=message, traceback=lines, details={})


def _first_line(text: str) -> str:
    """Return the first line, without what it quotes of the program or of the interpreter's words."""
    return _INTERPRETER.sub(r"\1", _ASSEMBLY.sub(r"\1\2", text.strip().partition("\n")[0][:_MOST]))
