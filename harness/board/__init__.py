"""Boards: ranking records, and showing boards and records in the terminal and as data.

`rank` and `list_changes` decide (pure); the rest renders. The database belongs to `store`.
"""

from __future__ import annotations

from harness.board.concealing import conceal
from harness.board.export import board_csv, board_document, board_json
from harness.board.history import Change, list_changes
from harness.board.places import Apart, Board, Entry
from harness.board.ranking import rank
from harness.board.show import render_changes, render_record, render_verdict
from harness.board.standings import Standing, rank_overall
from harness.board.table import render_board, render_standings

__all__ = [
    "Apart",
    "Board",
    "Change",
    "Entry",
    "Standing",
    "board_csv",
    "board_document",
    "board_json",
    "conceal",
    "list_changes",
    "rank",
    "rank_overall",
    "render_board",
    "render_changes",
    "render_record",
    "render_standings",
    "render_verdict",
]
