from __future__ import annotations

import csv
import io
import json

import pytest

from harness.board import board_csv, board_document, board_json, rank
from harness.board.text import (
    gap,
    magnitude,
    microseconds,
    percent,
    seconds,
    shape_names,
    short_names,
    size_bytes,
)
from tests.board.hostile import HOSTILE, hostile_record
from tests.store.samples import checked, passed

BOARD = ("chunk_fwd_h", "b200", "closed")


def test_json_has_ranked_unranked_and_other_settings():
    old = passed("old", 1, 0, problem_version="0")
    leader, second = passed("acme", 10, 1), passed("bolt", 11, 2)
    document = json.loads(board_json(rank([leader, second, checked("core", 3), old], *BOARD, noise=0.005)))
    assert document["ranked"][0] == {
        "place": 1, "tied": False, "team": "acme", "verdict": "PASSED", "score_us": 10, "record": leader.id,
        "finished": leader.finished, "gap_to_leader": None, "gap_to_above": None, "percent_of_floor": pytest.approx(50),
        "same_program_as": None, "runs": 1, "times_us": {c.case_id: c.timing.time_us for c in leader.cases[3:]},
    }  # fmt: skip
    assert document["ranked"][1]["gap_to_leader"] == pytest.approx(0.1)
    assert (document["problem"], document["target"], document["division"], document["noise"]) == (*BOARD, 0.005)
    assert document["setting"]["toolchain"]["triton"] == "3.7.1"
    assert [r["why_apart"] for r in document["unranked"]] == ["no GPU"]
    assert [r["why_apart"] for r in document["other_settings"]] == ["problem version 0, now 1"]


def test_an_empty_board_is_data_too():
    board = rank([], *BOARD)
    assert board_document(board)["ranked"] == []
    assert len(board_csv(board).splitlines()) == 1


def test_csv_has_a_row_per_entry():
    rows = list(csv.DictReader(io.StringIO(board_csv(rank([passed("acme", 10), checked("bolt")], *BOARD)))))
    assert [(r["place"], r["team"], r["score_us"], r["why_apart"]) for r in rows] == [
        ("1", "acme", "10", ""),
        ("", "bolt", "", "no GPU"),
    ]


@pytest.mark.parametrize(
    "team", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "|calc", "＝1", "\x1b[0m=1", "\u200b=1", HOSTILE]
)
def test_csv_cells_never_begin_like_a_formula(team):
    rows = list(csv.reader(io.StringIO(board_csv(rank([passed(team, 10)], *BOARD)))))
    assert len(rows) == 2
    (cell,) = [cell for cell in rows[1] if team[-1] in cell and not cell.isdigit()][:1]
    assert cell[0] == "'" or cell[0] == "\N{REPLACEMENT CHARACTER}"
    assert cell.isprintable()


def test_hostile_text_survives_as_data_in_json():
    assert json.loads(board_json(rank([hostile_record()], *BOARD)))["ranked"][0]["team"] == HOSTILE.replace(
        "\0", "\ufffd"
    )


def test_numbers_are_written_with_enough_digits():
    assert [microseconds(v) for v in (0.9071, 9.0714, 23.41, 412.34, 1104.4, 0.0, None)] == [
        "0.9071", "9.071", "23.41", "412.3", "1104", "0.0", ""]  # fmt: skip
    assert [magnitude(v) for v in (0.45, 0.6, 3.1e-4, 1742.5, 12.0, 3e7, 0.0, float("nan"))] == [
        "0.45", "0.60", "3.1e-04", "1,742", "12", "3.0e+07", "0", "-"]  # fmt: skip
    assert [percent(v) for v in (0.384, 1.0, 0.0002, 0.99968, 0.0, None)] == [
        "38.4%",
        "100.0%",
        "<0.1%",
        ">99.9%",
        "0.0%",
        "",
    ]
    assert [gap(v) for v in (0.003, 0.123, 3.5, None)] == ["+0.3%", "+12.3%", "4.5x", ""]
    assert [seconds(v) for v in (0.417, 1.5, 13.2, 125, None)] == ["0.42 s", "1.5 s", "13 s", "2 min 5 s", ""]
    assert [size_bytes(v) for v in (0, 512, 65536, 1100, None)] == ["0", "512", "64 KiB", "1.07 KiB", ""]


def test_shapes_are_named_by_what_differs():
    assert shape_names([{"B": 1, "T": 64}, {"B": 1, "T": 128}]) == ["T64", "T128"]
    assert shape_names([{"B": 1, "T": 64}]) == ["B1 T64"]
    assert short_names(["B1_T64", "B2_T64", "B2_T64"]) == ["B1", "B2", "B2"]
    assert short_names(["B1_T64", "odd"]) == ["B1 T64", "odd"]
