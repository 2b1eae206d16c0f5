from __future__ import annotations

import dataclasses
import json
import math

import pytest

from harness.errors import StoreError
from harness.store import decode_record, encode_record, new_record_id
from harness.store.record import OutputError, VerdictRecord
from tests.store.samples import checked, incorrect, passed, submitted


@pytest.mark.parametrize("record", [submitted(), checked(), passed("acme", 12.5), incorrect()], ids=lambda r: r.kind)
def test_a_record_survives_json(record):
    assert decode_record(json.loads(json.dumps(encode_record(record), allow_nan=False))) == record


def test_numbers_that_json_lacks_survive():
    error = OutputError("h", math.inf, math.inf, math.inf, math.inf, 1, 8)
    record = checked(cases=(dataclasses.replace(checked().cases[0], errors=(error,)),))
    record = dataclasses.replace(record, verdict=VerdictRecord("INCORRECT", "judge", details={"got": [math.nan]}))
    back = decode_record(json.loads(json.dumps(encode_record(record), allow_nan=False)))
    assert back.cases[0].errors[0] == error
    assert math.isnan(back.verdict.details["got"][0])


def test_text_that_no_database_holds_is_replaced():
    record = checked(verdict=VerdictRecord("COMPILE_ERROR", "trace", message="a\x00b\udc80c"))
    document = encode_record(record)
    document["verdict"]["message"].encode()
    assert decode_record(document).verdict.message == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


def test_an_old_document_takes_defaults_and_an_unknown_field_is_left_out():
    document = encode_record(checked())
    del document["warnings"]
    document["cases"][0]["later_field"] = 1
    assert decode_record(document) == checked(id=document["id"])


def test_a_record_of_format_1_is_read_and_one_that_is_damaged_is_blamed_for_what_it_has():
    """There a time was called a median, and evaluator 3 said in which slot each sample was taken."""
    record = passed("acme", 12.5)
    document = json.loads(json.dumps(encode_record(record))) | {"format": 1}
    timings = [case["timing"] for case in document["cases"] if case["timing"]]
    for timing in timings:
        timing.update(median_us=timing.pop("time_us"), slots=[0, 1])
    assert decode_record(document) == record
    timings[0]["median_us"] = "fast"
    with pytest.raises(StoreError, match="time_us should hold float, not str"):
        decode_record(document)
    for cases in (None, 5, [5], [{"timing": 5}]):
        with pytest.raises(StoreError, match="the stored document at Record.cases"):
            decode_record(document | {"cases": cases})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format=3), "format 3, this version reads up to 2: update"),
        (lambda d: d.pop("team"), "at Record is not complete"),
        (lambda d: d["cases"][2].update(shape=3), r"Record.cases\[2\].shape should hold dict, not int"),
        (lambda d: d["cases"][0].update(role=True), r"Record.cases\[0\].role should hold str, not bool"),
    ],
)
def test_a_damaged_document_says_where(change, message):
    document = encode_record(checked())
    change(document)
    with pytest.raises(StoreError, match=message):
        decode_record(document)


def test_ids_sort_by_time_and_do_not_repeat():
    ids = [new_record_id(1_800_000_000 + i / 1000) for i in range(1000)]
    assert ids == sorted(ids)
    assert len({new_record_id(1_800_000_000) for _ in range(1000)}) == 1000
    assert all(len(i) == 14 and i.isalnum() and i.islower() for i in ids)


def test_records_of_other_tools_have_another_setting():
    one, other = checked(), checked(toolchain={"helion": "1.5.0", "torch": "2.13.0", "triton": "3.8.0"})
    assert one.setting == checked("other team").setting
    assert one.setting.key != other.setting.key


def test_only_tools_that_shape_the_code_count_for_the_setting():
    on_cpu = checked(toolchain={**checked().toolchain, "torch": "2.13.0+cpu", "python": "3.11.7"})
    on_gpu = checked(toolchain={**checked().toolchain, "torch": "2.13.0+cu130", "python": "3.12.3"})
    assert on_cpu.setting == on_gpu.setting
