"""What pages and answers are made of: boards, standings, records, histories, the queue. It reads and changes nothing.

Boards come from `entries`, in three small queries whatever the number of records, and pass through `board.ranking`.
Lists of records come from the columns alone (`sketch`): documents are large, and a list shows little of them. What of a
record is its team's code is taken away here (`conceal`) unless the caller may see it, so that no page can forget to.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from harness.board.concealing import conceal
from harness.board.places import Board
from harness.board.ranking import arrange
from harness.board.standings import Standing, rank_overall
from harness.service.entries import DISQUALIFIED, RANKED, BoardKey, on_board
from harness.service.job import Job, read_job
from harness.service.received import unpack_files
from harness.service.remembered import load_entries, load_first_teams, load_posted
from harness.service.rules import Rules
from harness.service.schema import boards, jobs, milestones, sources, unverified
from harness.site.views import LATEST
from harness.store.codec import decode
from harness.store.record import Record, Setting, VerdictRecord, decode_record
from harness.store.schema import records
from harness.target import load_target

_SKETCHED = (
    "id", "state", "created", "team", "problem", "target", "division", "season", "verdict", "standing", "score_us",
    "source_sha256", "normalised_source_sha256", "artifact_key",
)  # fmt: skip
SKETCHED = tuple(records.c[name] for name in _SKETCHED)
"""The columns that `sketch` makes a record of."""

_MILESTONES = (
    select(milestones)
    .where(on_board(milestones), milestones.c.setting == bindparam("counts"))
    .order_by(milestones.c.record)
)
_RULED_OUT = select(func.count()).where(on_board(records), records.c.standing == DISQUALIFIED)
_SETTING = select(boards.c.setting_document, boards.c.version).where(on_board(boards))


def load_board(connection: Connection, key: BoardKey, version_now: str | None = None) -> Board:
    """Return a board, empty if nothing stands on it.

    Args:
        connection: to read from.
        key: which.
        version_now: the problem's version today: a board of another one says so.
    """
    gpu = load_target(key.target)
    row = connection.execute(_SETTING, key.columns).first()
    setting = decode(Setting, row.setting_document) if row is not None else None
    empty = Board(
        key.problem,
        key.target,
        key.division,
        setting,
        gpu.ranking_noise,
        version_now=version_now,
        noise_assumed=gpu.noise is None,
        ruled_out=connection.execute(_RULED_OUT, key.columns).scalar() or 0,
    )
    if row is None or setting is None:
        return empty
    shown, counts = load_entries(connection, key), setting.key
    here = [entry for entry in shown if entry.setting == counts]
    # By the age of the first run, as `pool_runs` has them.
    programs = sorted((entry.pooled for entry in here if entry.kind == RANKED), key=attrgetter("first"))
    unranked = [entry.pooled.record for entry in here if entry.kind != RANKED]
    others = [entry.pooled.record for entry in shown if entry.setting != counts]
    names = {name for p in programs for name in (p.program, p.record.normalised_source_sha256)}
    first_teams = load_first_teams(connection, key, row.version, names)
    return arrange(empty, programs, unranked, others, first_teams)


def list_boards(connection: Connection) -> list[BoardKey]:
    """Return every board that something stands on, sorted."""
    columns = (boards.c.problem, boards.c.target, boards.c.division)
    return sorted((BoardKey(*row) for row in connection.execute(select(*columns))), key=lambda key: (*vars(key),))


def board_version(connection: Connection, key: BoardKey) -> int:
    """Return a number that rises whenever a board may look different; 0 where there is none."""
    return connection.execute(select(boards.c.version).where(key.rows(boards))).scalar() or 0


def load_standings(connection: Connection, rules: Rules, target: str, division: str) -> tuple[Standing, ...]:
    """Return the overall standings of a target and division."""
    keys = [BoardKey(problem, target, division) for problem in rules.problems]
    found = [load_board(connection, key, rules.problems[key.problem].version) for key in keys]
    return rank_overall(found, {name: entry.points for name, entry in rules.season.problems.items()})


def load_record(connection: Connection, record_id: str, *, with_code: bool) -> Record | None:
    """Return a record, None if there is none; without its team's code unless `with_code`."""
    if "\0" in record_id:  # as an address may have it: PostgreSQL does not even compare it
        return None
    query = select(records.c.document).where(records.c.id == record_id)
    document = connection.execute(query).scalar()
    if document is None:
        return None
    record = decode_record(document)
    return record if with_code else conceal(record)


def list_records(
    connection: Connection,
    *,
    problem: str | None = None,
    team: str | None = None,
    target: str | None = None,
    division: str | None = None,
    before: str | None = None,
    limit: int = LATEST,
) -> list[Record]:
    """Return sketches of records, the newest first; each argument given narrows them."""
    given = {"problem": problem, "team": team, "target": target, "division": division}
    wanted = [records.c[name] == value for name, value in given.items() if value is not None]
    if before is not None:
        wanted.append(records.c.id < before)
    query = select(*SKETCHED).where(*wanted)
    return [sketch(row) for row in connection.execute(query.order_by(records.c.id.desc()).limit(limit))]


def find_ruled(connection: Connection, shown: Iterable[Record]) -> frozenset[str]:
    """Return the ids of those of some records that organisers have ruled out."""
    ids = [record.id for record in shown]
    ruled = select(records.c.id).where(records.c.id.in_(ids), records.c.standing == DISQUALIFIED)
    return frozenset(connection.scalars(ruled)) if ids else frozenset()


def list_leaders(connection: Connection, key: BoardKey, setting: Setting) -> list[Record]:
    """Return sketches of the records that led a board, the oldest first: its record over time."""
    rows = connection.execute(_MILESTONES, {**key.columns, "counts": setting.key})
    return [
        sketch(row, id=row.record, state="finished", verdict="PASSED", standing="ranked", season=setting.season)
        for row in rows
    ]


def sketch(row: Row[Any], **given: Any) -> Record:
    """Return a record of what some columns say: enough for a list, without cases, kernels and messages."""
    found: dict[str, Any] = dict.fromkeys(_SKETCHED, "") | dict(row._mapping) | given
    kind, names = found["verdict"], ("id", "state", "created", "team", "problem", "target", "division", "season")
    return Record(
        **{name: found[name] for name in names},
        problem_version="",
        source_sha256=found["source_sha256"],
        normalised_source_sha256=found["normalised_source_sha256"],
        evaluator_version="",
        toolchain={},
        machine={},
        sandbox_level="",
        artifact_key=found["artifact_key"] or None,
        ranked=found["standing"] == "ranked",
        verdict=VerdictRecord(kind, "") if kind else None,
        score_us=found["score_us"],
    )


def list_unverified(connection: Connection, key: BoardKey, limit: int = LATEST) -> list[Record]:
    """Return sketches of records that teams made on their own machines, the newest first. They rank nowhere."""
    newest = select(unverified.c.id).where(key.rows(unverified)).order_by(unverified.c.id.desc()).limit(limit)
    return load_posted(connection, newest)


def load_unverified(connection: Connection, record_id: str) -> Record | None:
    """Return an unverified record, without code, None if there is none."""
    if "\0" in record_id:
        return None
    document = connection.execute(select(unverified.c.document).where(unverified.c.id == record_id)).scalar()
    return conceal(decode_record(document)) if document is not None else None


def load_source(connection: Connection, job: Job) -> tuple[tuple[str, bytes], ...]:
    """Return a submission's files. The caller has made sure that whoever asked may see them."""
    stored = connection.execute(select(sources.c.files).where(sources.c.sha256 == job.source_sha256)).scalar()
    return unpack_files(stored) if stored is not None else ()


def list_reruns(connection: Connection, job_id: str) -> list[Job]:
    """Return the jobs that organisers made of another one."""
    query = select(jobs).where(jobs.c.rerun_of == job_id).order_by(jobs.c.id)
    return [read_job(row) for row in connection.execute(query)]


def count_records(connection: Connection) -> tuple[int, int]:
    """Return how many submissions are done, and of how many teams."""
    done = select(func.count(), func.count(jobs.c.team.distinct())).where(jobs.c.state == "done")
    count, teams = connection.execute(done).one()
    return int(count), int(teams)
