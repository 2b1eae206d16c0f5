"""`harness records`: what a team has submitted, one line a record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import find_workspace
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.store import Record

SHOWN = 20


@click.command()
@click.option("--team", help="Only this team's.")
@click.option("--problem", help="Only this problem's.")
@click.option("--limit", type=click.IntRange(1), default=SHOWN, show_default=True, help="How many, at the most.")
@click.option("--from", "place", help="A file of records, or a folder of them, as `harness board --save` writes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(team: str | None, problem: str | None, limit: int, place: str | None, as_json: bool) -> int:
    """List the records of this machine, the newest first: every submission, whatever came of it."""
    from harness.board.summary import record_summary, render_summaries
    from harness.cli.show import tell_no_record

    found = _find(team, problem, place, limit + 1)
    shown = found[:limit]
    if as_json:
        print_json([record_summary(record) for record in shown])
    elif not shown:
        raise UsageError(tell_no_record(problem, team, place))
    else:
        print_renderable(render_summaries(shown, more=len(found) > limit))
    return 0


def _find(team: str | None, problem: str | None, place: str | None, limit: int) -> list[Record]:
    from harness.store import load_records, open_store

    if place is not None:
        kept = [one for one in load_records(Path(place)) if problem in (None, one.problem) and team in (None, one.team)]
        return sorted(kept, key=lambda record: record.id, reverse=True)[:limit]
    with open_store(find_workspace(Path.cwd()).database) as store:
        store.recover()
        return store.records(problem=problem, team=team, limit=limit)
