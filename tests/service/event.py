"""A season to submit to: teams, submissions, and workers that conclude with recorded outcomes."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

from harness.service.accepting import accept
from harness.service.job import BUILD, REPLAY
from harness.service.queue import Worker, lease_job, pass_on, start_job
from harness.service.received import Received
from harness.service.results import conclude
from harness.service.rules import RulesFile
from harness.service.settings import Limits
from harness.service.teams import add_team
from harness.store.files import save_records
from harness.store.record import StageRecord
from tests.store.samples import passed

WORKSPACE = Path(__file__).parents[1] / "workspace"
LIMITS = Limits(pending=1000, per_hour=1000)
BUILDER, GPU = Worker("builder", BUILD), Worker("gpu", REPLAY, ("b200", "h200"))
START_S = 1_800_000_000.0

_numbers = itertools.count()


def received(source: str = "", **changes) -> Received:
    text = f"# {source or next(_numbers)}\ndef custom_kernel(data): ..."
    fields = {"problem": "scale", "target": "", "division": "", "suite": "default", "problem_version": ""}
    return Received(**{**fields, **changes}, files=(("submission.py", text.encode()),))


def rules_now(connection):
    return RulesFile(WORKSPACE).current(connection)


def join(database, *teams):
    with database.write() as connection:
        for team in teams:
            add_team(connection, team)


def submit(database, team="acme", *, now_s=START_S, key=None, limits=LIMITS, rules=None, **changes):
    with database.write() as connection:
        rules = rules or rules_now(connection)
        asked = changes.pop("asked", None) or received(**changes)
        return accept(connection, team, asked, key or f"key-{next(_numbers):06}", rules, limits, now_s).job


def lease(database, worker=BUILDER, *, now_s=START_S, limits=LIMITS):
    """Lease the next job and begin with it."""
    with database.write() as connection:
        found = lease_job(connection, worker, limits, now_s)
        if found is not None:
            assert start_job(connection, found, limits, now_s)
        return found


def outcome(job, score_us=None, **changes):
    """The record of a job: passed with a score, or checked only."""
    names = ("id", "team", "problem", "target", "division", "season", "suite", "source_sha256", "problem_version")
    fields = {name: getattr(job, name) for name in names}
    fields |= {"normalised_source_sha256": job.source_sha256, "created": job.created}
    record = dataclasses.replace(passed(job.team, score_us or 1.0), **{**fields, **changes})
    if score_us is None:
        verdict = dataclasses.replace(record.verdict, kind="CHECKED", message="checked")
        record = dataclasses.replace(record, verdict=verdict, score_us=None, ranked=False, unranked_reason="no GPU")
    return record


def finish(database, lease, record=None, *, now_s=START_S):
    with database.write() as connection:
        return conclude(connection, lease, record or outcome(lease.job, 10.0), now_s)


def hand_on(database, lease, *, now_s=START_S):
    with database.write() as connection:
        return pass_on(connection, lease, {}, now_s)


def record_outcome(folder, source, score_us=None, *, build_s=0.0, replay_s=0.0, **changes):
    """Put the outcome of a source into a folder of recorded outcomes."""
    sha256 = source_sha256(source)
    record = passed("recorded", score_us or 1.0, minute=next(_numbers) % 600)
    stages = (StageRecord("build", build_s), StageRecord("replay", replay_s))
    named = {"problem": "scale", "source_sha256": sha256, "normalised_source_sha256": sha256, "stages": stages}
    record = dataclasses.replace(record, **named, **changes)
    if score_us is None:
        verdict = dataclasses.replace(record.verdict, kind="INCORRECT", message="wrong")
        record = dataclasses.replace(record, verdict=verdict, score_us=None, ranked=False)
    save_records([record], folder)


def source_sha256(source):
    return Received("scale", "", "", "", "", (("submission.py", source.encode()),)).submission("x").sha256
