"""Formulas for whoever opens an export in a spreadsheet.

How: in every text of a record that comes to a board, ranked, unranked and posted, and the export of each board, on
the page's address and the API's. Seen: exports of bug trackers and contests. Defence: names are few letters; no text
cell begins like a formula, whatever sign or space it hides behind.
"""

import csv
import io

from tests.board.hostile import HOSTILE
from tests.service.arena import API

BEGIN = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n", "＝", "＋", "－", "＠")
PAYLOADS = (
    HOSTILE,
    "=1+1",
    "\t=1+1",
    " =cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(1)",
    "\ufeff=1",
    "\u200b=1",
    '"=1+1"',
    "＝1",
    "a\r\n=1",
)


def attack(arena):
    cells = 0
    for payload in PAYLOADS:
        team = arena.team()
        name = arena.submit(team.token).json()["id"]
        arena.conclude(name, None, unranked_reason=payload, finished=payload)
        other = arena.submit(team.token, target="h200").json()["id"]
        arena.conclude(other, 5.0, finished=payload, evaluator_version=payload.replace("\0", ""))
    for path in (f"{API}/boards/scale/b200/closed.csv", f"{API}/boards/scale/h200/closed.csv",
                 "/boards/scale-b200-closed.csv", "/boards/scale-h200-closed.csv"):  # fmt: skip
        answer = arena.get(path)
        assert answer.headers["Content-Type"].startswith("text/csv")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        assert len(rows) >= len(PAYLOADS), path
        for row in rows:
            for column, cell in row.items():
                cells += 1
                number = column in ("place", "score_us", "gap_to_leader", "gap_to_above", "percent_of_floor", "runs")
                assert number or not cell.lstrip().startswith(BEGIN), (path, column, cell)
                assert number is False or cell == "" or float(cell) is not None
    return f"{cells} cells, none a formula"
