"""Records one a line, whatever came of them: in the terminal, and as JSON.

Every text of others goes into a `rich.text.Text` through `clean`, never into markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.board.fitted import Column, FittedTable, Row, number_column
from harness.board.reading import explain_state, fell_short, first_sentence
from harness.board.table import verdict_text
from harness.board.text import microseconds, moment
from harness.store.codec import encode
from harness.store.record import Record
from harness.text import clean

FIELDS = (
    "id", "state", "created", "finished", "team", "problem", "target", "division", "suite", "whole_suite", "score_us",
    "ranked", "unranked_reason",
)  # fmt: skip
REMARK_LEAST = 24
"""Characters on a line: a remark is wrapped so far before any column is left out for it."""


def record_summary(record: Record) -> dict[str, Any]:
    """Return a record without what its stages gave: what `harness records --json` prints of it."""
    verdict = {"kind": record.verdict.kind, "reason": record.verdict.reason} if record.verdict else None
    return {**{name: encode(getattr(record, name)) for name in FIELDS}, "verdict": verdict}


def render_summaries(records: Sequence[Record], *, more: bool) -> RenderableType:
    """Return a table of records for the terminal.

    Args:
        records: in the order in which they are shown.
        more: there are others, older ones.
    """
    columns = [
        Column("submitted (UTC)", 6), Column("record"), Column("team", no_wrap=False), Column("problem", no_wrap=False),
        Column("target", 5), Column("division", 2), Column("verdict"), number_column("score µs", 7),
        Column("", 4, no_wrap=False, shrinks_to=REMARK_LEAST),
    ]  # fmt: skip
    parts: list[RenderableType] = [FittedTable(columns, [_row(record) for record in records])]
    if more:
        parts.append(Text(f"only the newest {len(records)}: --limit shows more", "dim"))
    return Group(*parts)


def _row(record: Record) -> Row:
    return [
        moment(record.created),
        record.id,
        Text(clean(record.team), "bold"),
        record.problem,
        record.target,
        record.division,
        verdict_text(record.kind),
        microseconds(record.score_us),
        Text(clean(_remark(record)), "dim"),
    ]


def _remark(record: Record) -> str:
    """Say what is to be known beside the verdict: that nobody gave one, why it fell short, or why it is not ranked."""
    if record.state != "finished":
        return first_sentence(explain_state(record))
    if fell_short(record) and record.verdict:
        return first_sentence(record.verdict.message)
    return f"not ranked: {record.unranked_reason}" if record.unranked_reason and record.score_us is not None else ""
