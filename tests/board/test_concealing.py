from __future__ import annotations

import dataclasses
import json

import pytest

from harness.board.concealing import conceal, hides_something
from harness.store.record import VerdictRecord, encode_record
from tests.board.season import BUDGET
from tests.store.samples import checked, incorrect, submitted

SECRET = "acc = hl.dot(q, k.T)"


def failed(stage: str, reason: str, message: str, **changes):
    return incorrect(verdict=VerdictRecord("COMPILE_ERROR", stage, None, reason, message), **changes)


@pytest.mark.parametrize(
    ("stage", "reason", "message", "shown"),
    [
        ("trace", "helion_error", f"Helion refuses it.\n  41 | {SECRET}\nUse less.", "Helion refuses it."),
        ("assemble", "triton_error", f"at 3:4:\n{SECRET}", "at 3:4:"),
        ("source", "syntax_error", f"invalid syntax: {SECRET}", "syntax error"),
        ("policy", "inline_assembly", f"kernel f holds inline assembly ({SECRET!r}): the closed division takes none",
         "kernel f holds inline assembly: the closed division takes none"),
        ("replay", "not_all_checked", f"built; 0 of 4 checked: inline assembly is not interpreted: {SECRET}",
         "built; 0 of 4 checked: inline assembly is not interpreted"),
        ("assemble", "refused_operation", "kernel f: inline assembly that names acc, which is no register of its own",
         "kernel f: inline assembly"),
        ("assemble", "assembler_error", "kernel f: NVIDIA's assembler refuses its code:\n  Unknown symbol 'acc'",
         "kernel f: NVIDIA's assembler refuses its code:"),
        ("replay", "out_of_bounds", f"f reads beyond q\nFrom line 41 of the submission: {SECRET}", "f reads beyond q"),
        ("replay", "not_all_checked", f"built; the interpreter's process ended early (exit code 1): {SECRET}",
         "built; the interpreter's process ended early (exit code 1)"),
        ("replay", "not_all_checked", f"built; the interpreter stopped: ValueError {SECRET}",
         "built; the interpreter stopped"),
    ],
)  # fmt: skip
def test_what_quotes_the_program_is_hidden(stage, reason, message, shown):
    record = failed(stage, reason, message)
    assert conceal(record).verdict.message == shown
    assert hides_something(record)


def test_lines_and_details_are_hidden_and_numbers_stay():
    record = incorrect()
    hidden = conceal(record)
    assert record.verdict.traceback[0].text not in json.dumps(encode_record(hidden))
    assert [(line.line, line.text) for line in hidden.verdict.traceback] == [(41, "")]
    assert hidden.verdict.details == {}
    assert hidden.cases == record.cases
    assert hides_something(record)


def test_a_case_keeps_its_first_line():
    case = dataclasses.replace(checked().cases[0], message=f"it fails\n{SECRET}")
    record = checked(cases=(case,))
    assert conceal(record).cases[0].message == "it fails"
    assert hides_something(record)


def test_our_own_words_are_not_hidden():
    for record in (checked(), submitted(), incorrect(verdict=BUDGET)):
        assert not hides_something(record)
        assert conceal(record).verdict == record.verdict
    assert hides_something(incorrect())
