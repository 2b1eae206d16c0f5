"""Boards: ranking records, and showing boards and records in the terminal, as data and as a static site.

`rank` and `list_changes` decide (pure); the rest renders. The database belongs to `store`.
"""

from __future__ import annotations

from harness.board.export import board_csv, board_document, board_json
from harness.board.history import Change, list_changes
from harness.board.ranking import Apart, Board, Entry, rank
from harness.board.show import render_changes, render_record, render_verdict
from harness.board.site import SeasonFacts, export_site
from harness.board.standings import Standing, rank_overall
from harness.board.table import render_board, render_standings

__all__ = [
    "Apart",
    "Board",
    "Change",
    "Entry",
    "SeasonFacts",
    "Standing",
    "board_csv",
    "board_document",
    "board_json",
    "export_site",
    "list_changes",
    "rank",
    "rank_overall",
    "render_board",
    "render_changes",
    "render_record",
    "render_standings",
    "render_verdict",
]
