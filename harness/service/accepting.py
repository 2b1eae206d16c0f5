"""Taking a submission: whether this team may submit this now, and the row that makes it sure to be evaluated.

One transaction: when it has ended, the submission is on the disk, and only then is it acknowledged. A request with an
idempotency key that was seen before gets the first one's answer, so that a client may always try again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select

from harness.service.errors import RefusedError
from harness.service.job import BUILD, DONE, QUEUED, Job, read_job
from harness.service.queue import ALL_PROBLEMS
from harness.service.received import Received, pack_files
from harness.service.rules import Rules
from harness.service.schema import frozen, jobs, sources
from harness.service.settings import Limits
from harness.service.teams import hold_team
from harness.service.upsert import insert_missing
from harness.store.ids import new_record_id

PENDING_RETRY_S = 60.0

_KEY = re.compile(r"[A-Za-z0-9_.-]{8,72}")


@dataclass(frozen=True)
class Accepted:
    """A job, and whether this request made it (or an earlier one with its key did)."""

    job: Job
    new: bool


def accept(
    connection: Connection, team: str, received: Received, key: str | None, rules: Rules, limits: Limits, now_s: float
) -> Accepted:
    """Queue a team's submission.

    Args:
        connection: a writing one.
        team: whose token it came with.
        received: what is submitted.
        key: the idempotency key.
        rules: the season.
        limits: what a team may ask for.
        now_s: the time.

    Raises:
        RefusedError: it cannot be taken; the message says why and what to do.
    """
    if key is None or not _KEY.fullmatch(key):
        told = "send an `Idempotency-Key` of 8 to 72 letters, digits, dots, dashes and _, a new one for each submission"
        raise RefusedError(400, "idempotency-key", told)
    # The team's row is held, so that requests of one team at the same time are counted one after the other.
    hold_team(connection, team)
    if (before := _find_before(connection, team, key)) is not None:
        if before.request_sha256 != received.digest:
            told = "this `Idempotency-Key` was sent with another submission: make a new one for each submission"
            raise RefusedError(422, "idempotency-key-reused", told)
        return Accepted(read_job(before), new=False)
    target, division = check_open(connection, received, rules, now_s)
    _check_limits(connection, team, limits, now_s)
    return Accepted(_add(connection, team, received, key, rules, target, division, now_s), new=True)


def check_open(connection: Connection, received: Received, rules: Rules, now_s: float) -> tuple[str, str]:
    """Return the target and division that a submission is for, if the season takes it now.

    Raises:
        RefusedError: closed, not yet open, frozen, not in the season, or of another version of the problem.
    """
    season = rules.season
    if (why := rules.why_not_open(now_s)) is not None:
        raise RefusedError(403, "season-closed" if rules.phase(now_s) == "closed" else "season-not-open", why)
    target, division = received.target or season.targets[0], received.division or season.divisions[0]
    problem = _one_of("problem", received.problem, list(rules.problems), _aliases(rules))
    _one_of("target", target, list(season.targets))
    _one_of("division", division, list(season.divisions))
    _one_of("suite", received.suite, list(season.problems[problem].suites))
    stopped = select(frozen).where(frozen.c.problem.in_([problem, ALL_PROBLEMS]))
    if (row := connection.execute(stopped).first()) is not None:
        raise RefusedError(403, "frozen", f"the organisers have stopped submissions for now: {row.reason}")
    version = rules.problems[problem].version
    if received.problem_version not in ("", version):
        told = (
            f"the server has version {version} of {problem}, you have {received.problem_version}: update and try again"
        )
        raise RefusedError(409, "problem-version", told, server_version=version)
    return target, division


def rerun(connection: Connection, old: Job, rules: Rules, now_s: float) -> Job:
    """Queue a submission once more, for an organiser: it counts as submitted when it was."""
    name = new_record_id(now_s)
    version = rules.problems[old.problem].version if old.problem in rules.problems else old.problem_version
    names = ("team", "problem", "target", "division", "suite", "season", "source_sha256", "submitted_s")
    row = {column: getattr(old, column) for column in names}
    row |= {"problem_version": version, "rerun_of": old.id}
    return _insert_job(connection, name, now_s, row, f"rerun-{name}", "")


def _find_before(connection: Connection, team: str, key: str) -> Any:
    query = select(jobs).where(jobs.c.team == team, jobs.c.idempotency_key == key)
    return connection.execute(query).first()


def _one_of(what: str, name: str, known: list[str], aliases: dict[str, str] | None = None) -> str:
    found = (aliases or {}).get(name, name)
    if found not in known:
        raise RefusedError(422, f"unknown-{what}", f"the season has no {what} {name!r}: it has {', '.join(known)}")
    return found


def _aliases(rules: Rules) -> dict[str, str]:
    return {alias: name for name, problem in rules.problems.items() for alias in problem.aliases}


def _check_limits(connection: Connection, team: str, limits: Limits, now_s: float) -> None:
    recent = jobs.c.created_s > now_s - 3600
    counts = select(
        func.count().filter(jobs.c.state != DONE),
        func.count().filter(recent),
        func.min(jobs.c.created_s).filter(recent),
    )
    own = counts.where(jobs.c.team == team, jobs.c.rerun_of.is_(None), or_(recent, jobs.c.state != DONE))
    pending, count, oldest_s = connection.execute(own).one()
    if pending >= limits.pending:
        told = f"{pending} of your submissions are not evaluated yet; {limits.pending} are allowed at a time"
        raise RefusedError(429, "too-many-pending", told, retry_after_s=PENDING_RETRY_S)
    if count >= limits.per_hour:
        retry_s = oldest_s + 3600 - now_s
        told = (
            f"{count} submissions in the last hour; {limits.per_hour} are allowed: again in {retry_s / 60:.0f} minutes"
        )
        raise RefusedError(429, "rate-limit", told, retry_after_s=retry_s)


def _add(
    connection: Connection,
    team: str,
    received: Received,
    key: str,
    rules: Rules,
    target: str,
    division: str,
    now_s: float,
) -> Job:
    problem = _aliases(rules).get(received.problem, received.problem)
    source = received.submission(team).sha256
    insert_missing(connection, sources, {"sha256": source}, {"files": pack_files(received.files)})
    name = new_record_id(now_s)
    row = {
        "team": team,
        "problem": problem,
        "target": target,
        "division": division,
        "suite": received.suite,
        "season": rules.season.name,
        "problem_version": rules.problems[problem].version,
        "source_sha256": source,
        "submitted_s": now_s,
    }
    return _insert_job(connection, name, now_s, row, key, received.digest)


def _insert_job(connection: Connection, name: str, now_s: float, row: dict[str, Any], key: str, digest: str) -> Job:
    fresh = {"stage": BUILD, "state": QUEUED, "attempt": 0, "faults": 0, "interruptions": 0}
    times = {"created_s": now_s, "queued_s": now_s}
    values = {"id": name, **row, **fresh, **times}
    once = {"idempotency_key": key, "request_sha256": digest}
    connection.execute(insert(jobs).values(**values, **once))
    return Job(**{**dict.fromkeys(Job.__dataclass_fields__), **values})
