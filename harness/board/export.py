"""Boards as data: one JSON document, or CSV for spreadsheets.

CSV is opened by programs that run what looks like a formula, so a text cell never begins like one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from harness.board.places import Apart, Board, Entry
from harness.board.standings import Standing
from harness.store.codec import encode
from harness.store.record import Record
from harness.text import clean

_FORMULA = tuple("=+-@|%\t\r\n＝＋－＠")  # noqa: RUF001  spreadsheets take the full-width signs, too

COLUMNS = (
    "place", "tied", "team", "verdict", "score_us", "gap_to_leader", "gap_to_above", "percent_of_floor",
    "same_program_as", "runs", "record", "finished", "why_apart",
)  # fmt: skip


def board_document(board: Board) -> dict[str, Any]:
    """Return a board as JSON values: what `harness board --json` prints."""
    return {
        "problem": board.problem,
        "target": board.target,
        "division": board.division,
        "setting": encode({**vars(board.setting), "toolchain": dict(board.setting.toolchain)})
        if board.setting
        else None,
        "problem_version_now": board.version_now,
        "noise": board.noise,
        "noise_assumed": board.noise_assumed,
        "ranked": [_entry_fields(entry) for entry in board.entries],
        "unranked": [_apart_fields(apart) for apart in board.unranked],
        "other_settings": [_apart_fields(apart) for apart in board.elsewhere],
        "ruled_out": board.ruled_out,
    }


def standings_document(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    """Return the overall standings as JSON values."""
    return [encode(standing) for standing in standings]


def board_json(board: Board) -> str:
    """Return a board as JSON text."""
    return json.dumps(board_document(board), indent=2, allow_nan=False) + "\n"


def board_csv(board: Board) -> str:
    """Return a board as CSV: ranked entries first, then those without a place and why."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    rows = [_entry_fields(entry) for entry in board.entries]
    rows += [_apart_fields(apart) for apart in (*board.unranked, *board.elsewhere)]
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _entry_fields(entry: Entry) -> dict[str, Any]:
    return {
        "place": entry.place,
        "tied": entry.tied,
        **_record_fields(entry.record),
        "gap_to_leader": entry.gap_to_leader,
        "gap_to_above": entry.gap_to_above,
        "percent_of_floor": entry.percent_of_floor,
        "same_program_as": entry.same_program_as,
        "runs": entry.runs,
    }


def _apart_fields(apart: Apart) -> dict[str, Any]:
    return {**_record_fields(apart.record), "why_apart": apart.why}


def _record_fields(record: Record) -> dict[str, Any]:
    times_us = {case.case_id: case.timing.time_us for case in record.cases if case.timing}
    fields = {"team": record.team, "verdict": record.kind, "score_us": record.score_us, "times_us": times_us}
    document: dict[str, Any] = encode({**fields, "record": record.id, "finished": record.finished})
    return document


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
