"""What came of a job, stored once: its record, the boards that show it, and the end of the job, in one transaction.

Nothing here believes a worker whose lease is over, nor one whose record is of something else than its job.
"""

from __future__ import annotations

from sqlalchemy import Connection

from harness.engine.machine import describe_machine
from harness.errors import StoreError
from harness.service.entries import DISQUALIFIED, add_record, find_ruling
from harness.service.job import Job, Lease
from harness.service.queue import close_job
from harness.service.teams import hold_team
from harness.store.ids import utc_now
from harness.store.record import Record, VerdictRecord
from harness.store.rows import insert_finished
from harness.toolchain import EVALUATOR_VERSION, installed_versions


def conclude(connection: Connection, lease: Lease, record: Record, now_s: float) -> bool:
    """Store a job's record and end the job. False: the lease holds no more, so that nothing was stored.

    Raises:
        StoreError: the record is not of this job.
    """
    _check_identity(lease.job, record)
    if not close_job(connection, lease, record.kind, now_s):
        return False
    store_record(connection, record)
    return True


def store_record(connection: Connection, record: Record) -> None:
    """Store a finished record, and take it in on its board.

    A ruling on its team is never under way at the same time: neither could see what the other does.
    """
    if record.accepted:
        hold_team(connection, record.team)
    ruled_out = record.accepted and find_ruling(connection, record.team, record.program) is not None
    insert_finished(connection, record, standing=DISQUALIFIED if ruled_out else None)
    add_record(connection, record)


def fault_record(job: Job, reason: str, message: str) -> Record:
    """Return the record of a job that our own faults ended: it counts against nobody."""
    verdict = VerdictRecord("HARNESS_ERROR", "service", reason=reason, message=message)
    return Record(
        id=job.id,
        state="finished",
        created=job.created,
        finished=utc_now(),
        team=job.team,
        problem=job.problem,
        problem_version=job.problem_version,
        division=job.division,
        season=job.season,
        target=job.target,
        source_sha256=job.source_sha256,
        normalised_source_sha256="",
        evaluator_version=EVALUATOR_VERSION,
        toolchain=installed_versions(),
        machine=describe_machine(),
        sandbox_level="none",
        verdict=verdict,
        suite=job.suite,
    )


def _check_identity(job: Job, record: Record) -> None:
    names = ("id", "team", "problem", "target", "division", "season", "suite", "source_sha256")
    differing = [name for name in names if getattr(job, name) != getattr(record, name)]
    if differing:
        raise StoreError(f"the record of job {job.id} is of another {differing[0]}: it is not stored")
