"""Boards: ranking records, and showing boards and records in the terminal, as data and as a static site.

`rank` and `list_changes` decide (pure); the rest renders. The database belongs to `store`.
"""

from __future__ import annotations

from harness.board.export import board_csv, board_document, board_json
from harness.board.history import Change, list_changes
from harness.board.ranking import Apart, Board, Entry, rank
from harness.board.show import render_changes, render_record, render_verdict
from harness.board.site import SeasonFacts, export_site
from harness.board.table import render_board

__all__ = [
    "Apart",
    "Board",
    "Change",
    "Entry",
    "SeasonFacts",
    "board_csv",
    "board_document",
    "board_json",
    "export_site",
    "list_changes",
    "rank",
    "render_board",
    "render_changes",
    "render_record",
    "render_verdict",
]
