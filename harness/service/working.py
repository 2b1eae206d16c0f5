"""One job: what its evaluation needs, the evaluation, and what is stored of it.

A fault of ours, raised or as a verdict, is tried once more; the second one is recorded, and counts against nobody. What
the engine returns of a submission is data that it has checked; the submission itself never runs in this process, and
whether this worker may still store anything is the database's to say.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection, select

from harness.engine.progress import Listener
from harness.errors import StoreError
from harness.service.evaluating import Evaluator, Task
from harness.service.job import BUILD, Job, Lease
from harness.service.logs import warn
from harness.service.queue import pass_on, retry_job
from harness.service.received import unpack_files
from harness.service.results import conclude, fault_record
from harness.service.rules import Rules
from harness.service.schema import sources
from harness.spec import find_problem
from harness.store.database import Database
from harness.store.record import Record, decode_record, encode_record
from harness.submission import MAIN, Submission
from harness.verdict import Kind, judge_ours

MAX_TRACEBACK = 8000


def evaluate_job(
    database: Database, root: Path, rules: Rules, evaluator: Evaluator, job: Job, listener: Listener
) -> Record:
    """Evaluate a job's stage; an error of ours becomes a record that says so.

    Args:
        database: where the submission is.
        root: the repository.
        rules: the season.
        evaluator: does it.
        job: leased.
        listener: is told how it goes.
    """
    try:
        with database.read() as connection:
            files = _load_files(connection, job.source_sha256)
        problem = rules.problems.get(job.problem) or find_problem(root, job.problem)
        task = Task(job, Submission(job.team, Path(MAIN), files, ()), rules.season, problem)
        if job.stage == BUILD:
            return evaluator.build(task, listener)
        return evaluator.replay(task, decode_record(job.checked), listener)
    except Exception as error:  # ours or the machine's, bugs too: it must not be lost, nor blamed on the team
        verdict = judge_ours(error)
        record = fault_record(job, verdict.reason, verdict.message)
        assert record.verdict is not None
        details = {"traceback": traceback.format_exc()[-MAX_TRACEBACK:]}
        return replace(record, verdict=replace(record.verdict, stage="engine", details=details))


def store_outcome(database: Database, lease: Lease, record: Record, replayed: frozenset[str]) -> str:
    """Store what a stage gave, and say in a word what became of the job.

    Args:
        database: where.
        lease: the worker's right to.
        record: from `evaluate_job`.
        replayed: the targets that are replayed here; a build for another one is done.
    """
    if record.kind == Kind.HARNESS_ERROR:
        _warn_of_fault(lease.job, record)
    with database.write() as connection:
        now_s = time.time()
        if record.kind == Kind.HARNESS_ERROR and retry_job(connection, lease, now_s):
            return "queued again"
        waits = record.kind in (Kind.CHECKED, Kind.BUILT) and lease.job.target in replayed
        if lease.job.stage == BUILD and waits:
            stored = pass_on(connection, lease, encode_record(record), now_s)
        else:
            stored = conclude(connection, lease, record, now_s)
    return "discarded" if not stored else "passed on" if lease.job.stage == BUILD and waits else "done"


def _warn_of_fault(job: Job, record: Record) -> None:
    """Log that an evaluation failed for a fault of ours: what kind, and where. Its page says more to organisers."""
    verdict = record.verdict
    told = str(verdict.details.get("traceback", "")) if verdict is not None else ""
    where = [line.strip() for line in told.splitlines() if line.lstrip().startswith('File "')]  # no line of code
    reason = verdict.reason if verdict is not None else ""
    warn("evaluation failed", job=job.id, team=job.team, stage=job.stage, reason=reason, where=where[-6:])


def _load_files(connection: Connection, sha256: str) -> tuple[tuple[str, bytes], ...]:
    stored = connection.execute(select(sources.c.files).where(sources.c.sha256 == sha256)).scalar()
    if stored is None:
        raise StoreError(f"the files of source {sha256[:12]} are not in the database")
    return unpack_files(stored)
