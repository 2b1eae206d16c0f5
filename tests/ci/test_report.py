"""The report and its artifact, read as what an attacker could have put there."""

import dataclasses
import io
import json
import math
import stat
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.ci.archive import read_only_member
from harness.ci.change import Fault
from harness.ci.markdown import render_markdown
from harness.ci.report import (
    MAX_REPORT_BYTES,
    Check,
    Report,
    ReportError,
    encode_report,
    load_report,
    parse_report,
    save_report,
)
from tests.ci.rendering import assert_harmless
from tests.store.samples import checked, incorrect, passed

CHECK = Check("acme", "chunk_fwd_h", "chunk_fwd_h", "b200")
GOOD = Report("1" * 40, (CHECK,), (checked("acme"),), ("submissions/acme/scale",))


def dump(report):
    return json.dumps(encode_report(report)).encode()


def test_what_is_written_is_read():
    assert parse_report(dump(GOOD)) == GOOD
    faulty = Report("1" * 40, faults=(Fault("outside", "Makefile", "take it out"),))
    assert parse_report(dump(faulty)) == faulty


def test_a_ranking_run_may_be_of_every_team(tmp_path):
    teams = [f"team{number}" for number in range(300)]
    report = Report(
        "1" * 40, tuple(dataclasses.replace(CHECK, team=team) for team in teams), tuple(map(checked, teams))
    )
    save_report(report, tmp_path)
    assert load_report(tmp_path) == report
    with pytest.raises(ReportError, match="64 checks and 500 faults at most"):  # as a pull request's it is refused
        parse_report(dump(report))
    save_report(dataclasses.replace(report, checks=(CHECK,) * 4097, records=()), tmp_path)
    with pytest.raises(ReportError, match="more than 4096 items in one place"):
        load_report(tmp_path)


def test_a_long_message_is_cut_rather_than_refused():
    verdict = dataclasses.replace(incorrect().verdict, message="x" * 50_000, details={"a": ["y" * 50_000]})
    report = dataclasses.replace(GOOD, records=(incorrect("acme", verdict=verdict),))
    (record,) = parse_report(dump(report)).records
    assert record.verdict.message.startswith("x" * 19_000)
    assert record.verdict.message.endswith("\n[cut here]")


@pytest.mark.parametrize("error", [3e21, 1.7e308, 5e-324, -1e300, math.inf, -math.inf])
def test_an_output_that_explodes_is_told_and_leaves_the_report_valid(error):
    cases = list(incorrect("acme").cases)
    wrong = dataclasses.replace(cases[1].errors[0], worst_over_tolerance=error)
    cases[1] = dataclasses.replace(cases[1], errors=(wrong,))
    report = dataclasses.replace(GOOD, records=(incorrect("acme", cases=tuple(cases)),))
    assert parse_report(dump(report)) == report
    assert_harmless(render_markdown(report))


def with_record(**changes):
    return dataclasses.replace(GOOD, records=(dataclasses.replace(GOOD.records[0], **changes),))


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (dataclasses.replace(GOOD, records=(passed("acme", 1.0),)), "no verdict that a check on a CPU can give"),
        (with_record(ranked=True), "claims a score or a time"),
        (with_record(score_us=0.001), "claims a score or a time"),
        (with_record(cases=passed("acme", 1.0).cases), "claims a score or a time"),
        (with_record(team="zeta"), "is of no check that the report names"),
        (with_record(target="h200"), "is of no check that the report names"),
        (with_record(state="submitted"), "no verdict"),
        (with_record(verdict=None), "no verdict"),
        (dataclasses.replace(GOOD, records=GOOD.records * 2), "two records are of one check"),
        (dataclasses.replace(GOOD, checks=(Check("../x", "a", "a", "b200"),)), "team name '../x' is not valid"),
        (dataclasses.replace(GOOD, checks=(Check("acme", "a/b", "a", "b200"),)), "names no problem or no target"),
        (dataclasses.replace(GOOD, checks=(Check("acme", "a", "a", "b20"),)), "names no problem or no target"),
        (dataclasses.replace(GOOD, checks=(CHECK,) * 65), "64 checks and 500 faults at most"),
        (Report("1", faults=(Fault("a", "b", "c"),) * 501), "64 checks and 500 faults at most"),
    ],
)
def test_what_a_gate_cannot_know_is_refused(report, told):
    with pytest.raises(ReportError, match=told):
        parse_report(dump(report))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a JSON document"),
        (b"\xff\xfe", "not a JSON document"),
        (b"[" * 100_000, "not a JSON document"),
        (b'{"format": 1, "head": NaN}', "not a JSON document"),
        (b'{"format": 1, "head": "x", "head": "y"}', "not a JSON document"),
        (b"[]", "not a report of format 1"),
        (b'{"format": 2, "head": "x"}', "not a report of format 1"),
        (b'{"format": 1}', "is not complete"),
        (b'{"format": 1, "head": 3}', "should hold str, not int"),
        (b'{"format": 1, "head": "x", "checks": {"a": 1}}', "should hold list, not dict"),
        (b'{"format": 1, "head": "' + b"x" * 30_000 + b'"}', "a text of more than 20000 characters"),
        (b'{"format": 1, "head": "x", "removed": [' + b'"",' * 3000 + b'""]}', "more than 2000 items"),
        (b'{"format": 1, "a":' + b"[" * 20 + b"]" * 20 + b"}", "nested deeper than 12"),
        (b'{"format": 1e999, "head": "x"}', "a number out of range"),
        (b'{"format": 1, "head": ' + b"9" * 400 + b"}", "an integer out of range"),
        (b'{"format": 1, "head": ' + b"9" * 5000 + b"}", "not a JSON document"),
        (b" " * (MAX_REPORT_BYTES + 1), "more than 2048 KiB"),
    ],
)
def test_what_is_no_report_is_refused(content, told):
    with pytest.raises(ReportError, match=told):
        parse_report(content)


def paths_into(value, path=()):
    """Every place of a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_into(item, (*path, key))


DOCUMENT = encode_report(dataclasses.replace(GOOD, records=(incorrect("acme"),)))
PLACES = [path for path in paths_into(DOCUMENT) if path]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**17), 10**17), st.text(max_size=40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([[], {}, [[]], {"float": "inf"}, {"float": "nan"}, {"float": "-inf"}]),
    st.sampled_from(["\ud800", "\x1b[2J", "::error::", "<b>", "@octocat", "https://evil.example"]),
)  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
def test_whatever_is_changed_in_a_report_it_is_harmless_or_refused(changes):
    document = json.loads(json.dumps(DOCUMENT))
    for path, value in changes:
        place = document
        try:
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # another change took the place away
    try:
        markdown = render_markdown(parse_report(json.dumps(document).encode()))
    except ReportError:
        return
    assert_harmless(markdown)


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def link():
    info = zipfile.ZipInfo("report.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped((info, "/etc/passwd"))


def understated(content):
    """A member whose headers claim ten bytes, and that unpacks to far more."""
    whole = zipped(("report.json", b" " * 1_000_000))
    size = (1_000_000).to_bytes(4, "little")
    assert whole.count(size) == 2
    return whole.replace(size, (10).to_bytes(4, "little"))


def test_one_file_comes_out_of_a_zip_file():
    assert read_only_member(zipped(("report.json", b"{}")), "report.json", 10) == b"{}"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no zip file", "not a zip file that can be read"),
        (zipped(("report.json", b"{}"))[:-30], "not a zip file that can be read"),
        (zipped(), "must hold report.json and nothing else"),
        (zipped(("../report.json", b"{}")), "must hold report.json and nothing else"),
        (zipped(("report.json", b"{}"), ("x", b"")), "must hold report.json and nothing else"),
        (zipped(("report.json", b" " * 100_000)), "not a plain file of at most 1 KiB"),
        (link(), "not a plain file"),
        (understated(b""), "not a zip file that can be read|more than 1 KiB"),
    ],
    # Not the bytes, which hold the time: two workers must collect the same tests.
    ids=["no zip", "cut off", "empty", "outside", "two", "large", "link", "understated"],
)
def test_other_zip_files_are_refused(content, told):
    with pytest.raises(ReportError, match=told):
        read_only_member(content, "report.json", 1024)
