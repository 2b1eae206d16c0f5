"""Jobs whose worker is gone: found, and queued again or given up. Run at start, and again and again.

A worker that died while its server lived is a fault of ours, and a job survives one of them. A restart of the whole
server is no fault of anything in the job, so it survives more of those; but not any number, lest a submission that
takes the machine down with it does so for ever. Whatever is given up is recorded, as HARNESS_ERROR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, or_, select, update

from harness.service.job import DONE, HELD, QUEUED, Job, read_job
from harness.service.queue import is_frozen
from harness.service.results import fault_record, store_record
from harness.service.schema import jobs, workers
from harness.service.settings import Limits
from harness.store.owner import Owner, is_gone, this_process
from harness.verdict import OURS

MAX_INTERRUPTIONS = 10
FORGET_WORKER_S = 3600.0


@dataclass(frozen=True)
class Recovered:
    """What was done: the ids of jobs that wait again, and of those that were given up."""

    requeued: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()


def register_worker(connection: Connection, name: str, stage: str, targets: tuple[str, ...], now_s: float) -> None:
    """Make the calling process known as a worker."""
    owner = {f"owner_{key}": value for key, value in vars(this_process()).items()}
    row = {"id": name, "stage": stage, "targets": ",".join(targets), "started_s": now_s, "seen_s": now_s}
    connection.execute(workers.insert().values(**row, **owner))


def see_worker(connection: Connection, name: str, now_s: float) -> None:
    """Say that a worker lives."""
    connection.execute(update(workers).where(workers.c.id == name).values(seen_s=now_s))


def forget_worker(connection: Connection, name: str) -> None:
    """Remove a worker that has ended in good order."""
    connection.execute(delete(workers).where(workers.c.id == name))


def recover(connection: Connection, limits: Limits, now_s: float, *, at_start: bool = False) -> Recovered:
    """Queue again, or give up, whatever nobody works on any more.

    Args:
        connection: a writing one.
        limits: how long a submission may wait.
        now_s: the time.
        at_start: of the server: whose worker is gone was interrupted with it, and nothing has waited for too long,
            because nobody may have been there to evaluate it.
    """
    requeued, given_up = [], []
    for job, gone in _find_lost(connection, now_s):
        interrupted = at_start and gone
        column, most = ("interruptions", MAX_INTERRUPTIONS) if interrupted else ("faults", 1)
        if getattr(job, column) < most:
            again = {"state": QUEUED, "worker": None, "until_s": None, "deadline_s": None, "started_s": None}
            if _change(connection, job, **again, progress=None, **{column: getattr(job, column) + 1}):
                requeued.append(job.id)
        elif _give_up(connection, job, "lost_worker", "the worker that evaluated it was lost again and again", now_s):
            given_up.append(job.id)
    if at_start:
        connection.execute(update(jobs).where(jobs.c.state == QUEUED).values(queued_s=now_s))
    for row in connection.execute(_waiting_too_long(now_s - limits.queue_s)):
        told = f"it waited for longer than {limits.queue_s / 3600:g} hours, so nobody evaluates it"
        if _give_up(connection, read_job(row), "queue_expired", told, now_s):
            given_up.append(row.id)
    _forget_the_gone(connection, now_s)
    return Recovered(tuple(requeued), tuple(given_up))


def _find_lost(connection: Connection, now_s: float) -> list[tuple[Job, bool]]:
    """Return the jobs that nobody works on, and whether their worker is known to be gone (or its lease just ran out).

    A job is never taken from a worker that may live: it is its lease that must have run out then.
    """
    owners = {row.id: _owner(row) for row in connection.execute(select(workers))}
    held = [read_job(r) for r in connection.execute(select(jobs).where(jobs.c.state.in_(HELD)).order_by(jobs.c.id))]
    gone = {name for name in {job.worker for job in held} if name in owners and is_gone(owners[name]) is True}
    lost = (job for job in held if job.worker in gone or job.until_s is None or job.until_s <= now_s)
    return [(job, job.worker in gone) for job in lost]


def _owner(row: Row[Any]) -> Owner:
    return Owner(row.owner_pid, row.owner_host, row.owner_boot, row.owner_namespace, row.owner_start)


def _waiting_too_long(before_s: float) -> Select[Any]:
    waits = (jobs.c.state == QUEUED, jobs.c.queued_s < before_s, ~is_frozen())
    return select(jobs).where(*waits).order_by(jobs.c.id)


def _give_up(connection: Connection, job: Job, reason: str, why: str, now_s: float) -> bool:
    done = {"state": DONE, "worker": None, "until_s": None, "deadline_s": None, "started_s": None}
    over = {"finished_s": now_s, "verdict": "HARNESS_ERROR", "checked": None, "progress": None}
    if not _change(connection, job, **done, **over):
        return False
    message = f"{why[0].upper()}{why[1:]}. {OURS} Submit again."
    store_record(connection, fault_record(job, reason, message))
    return True


def _change(connection: Connection, job: Job, **values: object) -> bool:
    """Change a job unless somebody has since: its attempt ends with this."""
    same = and_(jobs.c.id == job.id, jobs.c.attempt == job.attempt, jobs.c.state == job.state)
    unrenewed = or_(jobs.c.until_s.is_(None), jobs.c.until_s == job.until_s)
    statement = update(jobs).where(same, unrenewed).values(**values, attempt=job.attempt + 1)
    return connection.execute(statement).rowcount == 1


def _forget_the_gone(connection: Connection, now_s: float) -> None:
    rows = connection.execute(select(workers).order_by(workers.c.id)).all()
    unused = {row.worker for row in connection.execute(select(jobs.c.worker).where(jobs.c.state.in_(HELD)))}
    for row in rows:
        silent = now_s - row.seen_s > FORGET_WORKER_S
        if row.id not in unused and (silent or is_gone(_owner(row)) is True):
            connection.execute(delete(workers).where(workers.c.id == row.id))
