"""A job: one submission on its way through the queue. Its form, its states, and reading it from the database.

    queued -> leased (attempt, worker, until) -> running -> queued for the next stage, or done

A job's id becomes its record's. What happens to jobs is `queue`'s business and `recovery`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Row, select

from harness.service.schema import jobs

BUILD, REPLAY = "build", "replay"
STAGES = (BUILD, REPLAY)
QUEUED, LEASED, RUNNING, DONE = "queued", "leased", "running", "done"
HELD = (LEASED, RUNNING)


@dataclass(frozen=True)
class Job:
    """A submission in the queue.

    Attributes:
        problem_version: the server's, when it was accepted.
        rerun_of: the job that an organiser wanted run again, None for a team's own.
        created_s: when the job was made; submitted_s: when the team submitted, which is what deadlines look at.
        stage: "build" (trace, assemble, check) or "replay" (on a GPU).
        attempt: how often it has been leased.
        faults: how often a fault of ours ended its stage; interruptions: how often a restart did.
        progress: what its worker told last.
        checked: the record's document after the build, while it waits for the GPU.
        verdict: of its record, once it is done.
    """

    id: str
    team: str
    problem: str
    target: str
    division: str
    suite: str
    season: str
    problem_version: str
    source_sha256: str
    rerun_of: str | None
    created_s: float
    submitted_s: float
    stage: str
    state: str
    attempt: int
    faults: int
    interruptions: int
    queued_s: float
    worker: str | None
    until_s: float | None
    deadline_s: float | None
    started_s: float | None
    finished_s: float | None
    progress: dict[str, Any] | None
    checked: dict[str, Any] | None
    verdict: str | None

    @property
    def created(self) -> str:
        """When the team submitted, as records say it."""
        return iso(self.submitted_s)


@dataclass(frozen=True)
class Lease:
    """The right to work on a job, until it ends or another attempt begins.

    Attributes:
        attempt: the number that every write is checked against.
        deadline_s: when the stage's time is over, however often the lease is renewed.
    """

    job: Job
    attempt: int
    worker: str
    deadline_s: float


def iso(moment_s: float) -> str:
    """Return a time as records have it: UTC, ISO 8601, to the second."""
    return datetime.fromtimestamp(moment_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def load_job(connection: Connection, job_id: str) -> Job | None:
    """Return a job by its id, None if there is none."""
    if "\0" in job_id:  # as an address may have it: PostgreSQL does not even compare it
        return None
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
    return read_job(row) if row is not None else None


def read_job(row: Row[Any]) -> Job:
    """Return the job of a row of all columns."""
    return Job(**{name: getattr(row, name) for name in Job.__dataclass_fields__})
