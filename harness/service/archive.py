"""The season as a static site, from the service's database: what remains of it when the server is gone.

It shows what the service's pages show everybody: rulings, the organisers' log, and code if the season shows it by now.
It has no queue, and leaves out what teams posted from their own machines.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, select

from harness.service.filling_live import fill_acts
from harness.service.received import unpack_files
from harness.service.rules import RulesFile
from harness.service.schema import disqualified, sources
from harness.site.export import export_site
from harness.site.live_views import ActsView
from harness.site.loading import describe_season, load_problem_texts
from harness.site.views import Kept, SourceFile
from harness.store.record import Record, decode_record
from harness.store.schema import records


def export_season(connection: Connection, root: Path, folder: Path, now: datetime) -> tuple[Path, ...]:
    """Write the season into a folder and return the files written.

    Args:
        connection: a reading one.
        root: the repository, whose problems the pages tell of.
        folder: made if it is missing.
        now: decides whether submissions' code is shown.

    Raises:
        UsageError: the folder cannot be written to.
    """
    rules = RulesFile(root).current(connection)
    season = describe_season(rules.season, rules.problems, now)
    query = select(records.c.document).where(records.c.state == "finished").order_by(records.c.id)
    found = [decode_record(document) for document in connection.scalars(query)]
    rulings = _find_rulings(connection, found)
    kept = Kept(rulings, partial(_load_sources, connection)) if season.code_visible else Kept(rulings)
    log = _fill_log(connection, {record.id for record in found})
    return export_site(found, folder, season, problems=load_problem_texts(root), kept=kept, log=log)


def _fill_log(connection: Connection, pages: Container[str]) -> list[ActsView]:
    """Return every page of the log; acts on a submission without a page of its own lead nowhere."""
    views: list[ActsView] = []
    while (view := fill_acts(connection, len(views) + 1)) is not None:
        acts = (act if act.record_id in pages else replace(act, record_id="") for act in view.acts)
        views.append(replace(view, acts=tuple(acts)))
    return views


def _find_rulings(connection: Connection, found: Iterable[Record]) -> dict[str, str]:
    ruled = {(row.team, row.program): row.reason for row in connection.execute(select(disqualified))}
    reasons = {record.id: ruled.get((record.team, record.program), ruled.get((record.team, ""))) for record in found}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _load_sources(connection: Connection, record: Record) -> tuple[SourceFile, ...]:
    packed = connection.execute(select(sources.c.files).where(sources.c.sha256 == record.source_sha256)).scalar()
    files = unpack_files(packed) if packed is not None else ()
    return tuple(SourceFile(name, content.decode("utf-8", "replace")) for name, content in files)
