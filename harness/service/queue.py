"""The queue: which job is next, and writing what a worker made of it if its lease still holds.

Every write of a worker names its attempt, and the database compares: a worker that was believed lost, or whose lease
has run out, changes nothing, whatever it sends and however late. Two workers never get the same job: SQLite has one
writer at a time, PostgreSQL skips rows that another transaction holds.

Teams take turns: who has the fewest jobs under way comes first, then who was served the longest time ago. What becomes
of jobs whose worker is gone is `recovery`'s business; the time is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, update

from harness.service.job import BUILD, DONE, HELD, LEASED, QUEUED, REPLAY, RUNNING, Lease, read_job
from harness.service.schema import frozen, jobs, turns
from harness.service.settings import Limits
from harness.service.upsert import upsert

ALL_PROBLEMS = ""
"""What `frozen` has for every problem at once."""


@dataclass(frozen=True)
class Worker:
    """Who asks for work.

    Attributes:
        id: a name that no other process has.
        stage: what it does.
        targets: of the GPUs that it has; a build needs none, so that it takes every target.
    """

    id: str
    stage: str
    targets: tuple[str, ...] = ()


def lease_job(connection: Connection, worker: Worker, limits: Limits, now_s: float) -> Lease | None:
    """Lease the job whose turn it is, None if there is none for this worker."""
    for team in _teams_in_turn(connection, worker):
        row = connection.execute(_oldest_job(worker, team).with_for_update(skip_locked=True)).first()
        if row is None:
            continue  # another worker took it just now
        job, attempt = read_job(row), row.attempt + 1
        deadline_s = now_s + limits.stage_s(worker.stage)
        changes = {
            "state": LEASED,
            "attempt": attempt,
            "worker": worker.id,
            "until_s": now_s + limits.lease_s,
            "deadline_s": deadline_s,
            "started_s": now_s,
            "progress": None,
        }
        connection.execute(update(jobs).where(jobs.c.id == job.id).values(**changes))
        upsert(connection, turns, {"stage": worker.stage, "team": team}, {"served_s": now_s})
        return Lease(replace(job, **changes), attempt, worker.id, deadline_s)
    return None


def start_job(connection: Connection, lease: Lease, limits: Limits, now_s: float) -> bool:
    """Say that the work has begun. False: the lease holds no more, so that it must not."""
    return _write(connection, lease, now_s, state=RUNNING, until_s=_until_s(lease, limits, now_s))


def renew_lease(
    connection: Connection, lease: Lease, limits: Limits, now_s: float, progress: Mapping[str, Any] | None
) -> bool:
    """Say that the worker lives, and how far it is. False: the lease holds no more, or the stage's time is over."""
    return _write(connection, lease, now_s, until_s=_until_s(lease, limits, now_s), progress=progress)


def release_job(connection: Connection, lease: Lease, now_s: float) -> bool:
    """Give a job back unfinished, at the front of its team's jobs: the worker is asked to stop."""
    return _write(connection, lease, now_s, **_unheld(QUEUED), progress=None)


def pass_on(connection: Connection, lease: Lease, checked: Mapping[str, Any], now_s: float) -> bool:
    """Put a built job into the queue for a GPU.

    Args:
        connection: a writing one.
        lease: of the build.
        checked: the document of the record so far.
        now_s: the time.
    """
    waiting = {**_unheld(QUEUED), "stage": REPLAY, "queued_s": now_s, "faults": 0, "progress": None}
    return _write(connection, lease, now_s, **waiting, checked=dict(checked), **_spent(lease, now_s))


def close_job(connection: Connection, lease: Lease, verdict: str, now_s: float) -> bool:
    """Mark a job as done. Its record must be stored in the same transaction, and only if this returns true."""
    done = {**_unheld(DONE), "finished_s": now_s, "verdict": verdict, "checked": None, "progress": None}
    return _write(connection, lease, now_s, **done, **_spent(lease, now_s))


def retry_job(connection: Connection, lease: Lease, now_s: float) -> bool:
    """Queue a job once more after a fault of ours. False: the lease holds no more, or it was the second fault."""
    if lease.job.faults:
        return False
    return _write(connection, lease, now_s, **_unheld(QUEUED), faults=1, progress=None)


def _teams_in_turn(connection: Connection, worker: Worker) -> Iterator[str]:
    waiting = (
        select(jobs.c.team, func.min(jobs.c.id).label("oldest")).where(*_for_worker(worker)).group_by(jobs.c.team)
    ).subquery()
    held = select(jobs.c.team, func.count().label("jobs")).where(jobs.c.state.in_(HELD)).group_by(jobs.c.team)
    held_by, served = held.subquery(), and_(turns.c.team == waiting.c.team, turns.c.stage == worker.stage)
    query = (
        select(waiting.c.team)
        .select_from(waiting)
        .outerjoin(held_by, held_by.c.team == waiting.c.team)
        .outerjoin(turns, served)
        .order_by(func.coalesce(held_by.c.jobs, 0), func.coalesce(turns.c.served_s, 0.0), waiting.c.oldest)
    )
    yield from list(connection.scalars(query))


def _oldest_job(worker: Worker, team: str) -> Select[Any]:
    return select(jobs).where(*_for_worker(worker), jobs.c.team == team).order_by(jobs.c.id).limit(1)


def is_frozen() -> ColumnElement[bool]:
    """Return the condition that a job's problem is stopped by organisers."""
    stopped = or_(frozen.c.problem == jobs.c.problem, frozen.c.problem == ALL_PROBLEMS)
    return select(frozen.c.problem).where(stopped).exists()


def _for_worker(worker: Worker) -> list[ColumnElement[bool]]:
    wanted = [jobs.c.state == QUEUED, jobs.c.stage == worker.stage, ~is_frozen()]
    return wanted if worker.stage == BUILD else [*wanted, jobs.c.target.in_(worker.targets)]


def _write(connection: Connection, lease: Lease, now_s: float, **values: Any) -> bool:
    """Change a job if the lease on it holds."""
    held = and_(
        jobs.c.id == lease.job.id,
        jobs.c.attempt == lease.attempt,
        jobs.c.state.in_(HELD),
        jobs.c.until_s > now_s,
    )
    return connection.execute(update(jobs).where(held).values(**values)).rowcount == 1


def _until_s(lease: Lease, limits: Limits, now_s: float) -> float:
    return min(now_s + limits.lease_s, lease.deadline_s)


def _unheld(state: str) -> dict[str, Any]:
    return {"state": state, "worker": None, "until_s": None, "deadline_s": None, "started_s": None}


def _spent(lease: Lease, now_s: float) -> dict[str, float]:
    started_s = lease.job.started_s if lease.job.started_s is not None else now_s
    return {f"{lease.job.stage}_s": max(0.0, now_s - started_s)}
