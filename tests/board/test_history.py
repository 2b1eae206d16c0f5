from __future__ import annotations

import dataclasses

from harness.board.history import Change, list_changes
from harness.store import Previous
from harness.store.record import BuildRecord
from tests.store.samples import checked, incorrect, passed


def changes(now, last=None, best=None):
    return list_changes(now, Previous(last, best))


def other_source(record):
    return dataclasses.replace(record, source_sha256="ef" * 32)


def test_a_first_record_has_nothing_to_compare_with():
    assert changes(checked()) == ()


def test_the_same_again_says_so_and_no_more():
    assert changes(passed("acme", 10, 1), passed("acme", 10.05)) == (
        Change("last", "source", "", "the same, byte for byte"),
    )


def test_a_failure_names_the_verdict_the_case_and_its_error():
    found = changes(other_source(incorrect(minute=1)), checked())
    case = incorrect().verdict.case
    assert found == (
        Change("last", "verdict", "CHECKED", "INCORRECT", False),
        Change("last", f"case {case}", "passed", "failed", False),
        Change("last", f"error of {case}", "0.45 times the tolerance", "1,742 times the tolerance", False),
    )
    assert [c.better for c in changes(other_source(checked(minute=1)), incorrect())] == [True, True, True]


def test_an_error_that_is_no_number_is_told_in_words():
    def errs(record, worst):
        errors = tuple(dataclasses.replace(error, worst_over_tolerance=worst) for error in record.cases[0].errors)
        return dataclasses.replace(record, cases=(dataclasses.replace(record.cases[0], errors=errors),))

    for lost in (float("inf"), float("nan")):
        now, before = errs(other_source(checked(minute=1)), lost), errs(checked(), 0.5)
        (change,) = changes(now, before)
        assert (change.before, change.after, change.better) == ("0.50 times the tolerance", "not finite", False)
        (change,) = changes(errs(now, 0.5), errs(before, lost))
        assert (change.before, change.after, change.better) == ("not finite", "0.50 times the tolerance", True)
        assert changes(now, errs(before, lost)) == ()


def test_times_are_compared_with_the_last_and_the_best():
    now, last, best = other_source(passed("acme", 10, 2)), passed("acme", 12, 1), passed("acme", 8, 0)
    found = changes(now, last, best)
    assert [(c.since, c.before, c.after, c.better) for c in found if c.subject == "score"] == [
        ("last", "12.00 µs", "10.00 µs (-16.7%)", True),
        ("best", "8.000 µs", "10.00 µs (+25.0%)", False),
    ]
    assert len([c for c in found if c.subject.startswith("case ")]) == 6


def test_the_best_is_not_told_twice():
    last = passed("acme", 12, 1)
    assert {c.since for c in changes(passed("acme", 10, 2), last, last)} == {"last"}


def test_times_of_another_setting_are_not_compared():
    found = changes(other_source(passed("acme", 10, 1)), passed("acme", 20, problem_version="0"))
    assert found == (Change("last", "setting", "problem version 0, now 1", "times are not comparable"),)


def erring(record, worst):
    """The record with another largest error in its first case."""
    first = record.cases[0]
    errors = tuple(dataclasses.replace(error, worst_over_tolerance=worst) for error in first.errors)
    return dataclasses.replace(record, cases=(dataclasses.replace(first, errors=errors), *record.cases[1:]))


def test_errors_of_the_same_program_with_other_seeds_are_not_told():
    before, again = erring(checked(), 0.12), erring(checked(minute=1), 0.26)
    assert changes(again, before) == (Change("last", "source", "", "the same, byte for byte"),)
    (told,) = changes(other_source(again), before)
    assert (told.subject, told.before) == (f"error of {before.cases[0].case_id}", "0.12 times the tolerance")
    built = {"program_sha256": "12" * 32}
    same = dataclasses.replace(other_source(again), **built)
    assert changes(same, dataclasses.replace(before, **built)) == ()


def test_a_run_of_chosen_cases_is_compared_in_the_cases_that_both_have():
    whole = erring(checked(), 0.1)
    part = dataclasses.replace(
        erring(other_source(checked(minute=1)), 0.4),
        verdict=dataclasses.replace(whole.verdict, kind="BUILT"),
        whole_suite=False,
    )
    part = dataclasses.replace(part, cases=part.cases[:1])
    subject = f"error of {whole.cases[0].case_id}"
    assert [change.subject for change in changes(part, whole)] == [subject]
    again = dataclasses.replace(whole, id=part.id, source_sha256="01" * 32)
    assert [change.subject for change in changes(again, part)] == [subject]
    fell = dataclasses.replace(incorrect(minute=2), cases=incorrect().cases[:1], whole_suite=False)
    assert [change.subject for change in changes(fell, part)] == ["verdict"], "the same choice again"
    assert "verdict" not in {change.subject for change in changes(dataclasses.replace(again, suite="other"), fell)}


def test_scores_and_compile_time_of_other_cases_are_not_compared():
    before = passed("acme", 10, 1)
    part = dataclasses.replace(
        before, cases=before.cases[-1:], score_us=40.0, whole_suite=False, build=BuildRecord(1.0, 1.0, 720.0)
    )
    assert changes(other_source(passed("acme", 10, 2)), part) == ()
    now = other_source(dataclasses.replace(before, score_us=11.0, build=BuildRecord(90.0, 30.0, 720.0)))
    assert {change.subject for change in changes(now, before)} == {"score", "compile time (CPU)"}


def test_compile_time_registers_and_spills_are_told():
    before = checked()
    kernel = dataclasses.replace(before.kernels[0], registers=128, stack_bytes=16)
    now = other_source(checked(minute=1, kernels=(kernel, *before.kernels[1:]), build=BuildRecord(60.0, 30.0, 720.0)))
    place = f"of chunk_h_kernel in {kernel.shape_id}"
    assert changes(now, before) == (
        Change("last", "compile time (CPU)", "22 s", "60 s", False),
        Change("last", f"registers {place}", "96", "128"),
        Change("last", f"spilled bytes {place}", "0", "16", False),
    )


def edited(record, **columns):
    """The record with other numbers in its compile report, one for each kernel in turn."""
    kernels = list(record.kernels)
    for column, values in columns.items():
        kernels = [dataclasses.replace(k, **{column: v}) for k, v in zip(kernels, values, strict=True)]
    return dataclasses.replace(record, kernels=tuple(kernels))


def test_registers_and_spills_of_many_shapes_are_one_line_each():
    before = edited(checked(), registers=(64, 110, 96), stack_bytes=(0, 8, 8))
    now = edited(other_source(checked(minute=1)), registers=(80, 128, 96), stack_bytes=(16, 16, 16))
    assert changes(now, before) == (
        Change("last", "registers", "64..110", "80..128 in 2 shapes"),
        Change("last", "spilled bytes", "0..8", "16 in 3 shapes", False),
    )
    mixed = edited(before, stack_bytes=(0, 32, 8))
    assert [c.better for c in changes(edited(now, registers=(64, 110, 96)), mixed)] == [None]
    unknown = edited(before, registers=(None, None, None), stack_bytes=(None, None, None))
    assert changes(now, unknown) == ()


def test_registers_of_several_kernels_are_one_line_too():
    def split(record):
        kernels = record.kernels[:2]
        here = [dataclasses.replace(k, shape_id="B1_T64", name=name) for k, name in zip(kernels, "ab", strict=True)]
        return dataclasses.replace(record, kernels=tuple(here))

    before = edited(split(checked()), registers=(64, 64))
    now = edited(split(other_source(checked(minute=1))), registers=(32, 80))
    assert changes(now, before) == (Change("last", "registers of 2 kernels", "64", "32..80 in B1_T64"),)


def test_noise_in_compile_time_is_not_told():
    now = other_source(checked(minute=1, build=dataclasses.replace(checked().build, cpu_s=24.0)))
    assert changes(now, checked()) == ()
