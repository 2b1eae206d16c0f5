"""Taking submissions: whether these teams may submit this now, and the rows that make it sure to be evaluated.

One transaction: when it has ended, the submissions are on the disk, and only then are they acknowledged. A request with
an idempotency key that was seen before gets the first one's answer, so that a client may always try again. Several
submissions are taken as one after the other would be, and cost the database hardly more than one (`intake`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, insert, select, tuple_

from harness.service.allowance import Used, count_used
from harness.service.errors import RefusedError
from harness.service.job import BUILD, QUEUED, Job, read_job
from harness.service.queue import ALL_PROBLEMS
from harness.service.received import Received, pack_files
from harness.service.rules import Rules
from harness.service.schema import frozen, jobs, sources
from harness.service.settings import Limits
from harness.service.teams import hold_teams
from harness.service.upsert import insert_all_missing
from harness.store.ids import new_record_id

_KEY = re.compile(r"[A-Za-z0-9_.-]{8,72}")


@dataclass(frozen=True)
class Asked:
    """A team's request, with all of it that takes time to make ready.

    Attributes:
        key: its idempotency key.
        digest: what another request with that key must have in common with it.
        came_s: when it had come whole: what is in time then is in time, however long it waits to be taken.
        source_sha256, packed: the files' identity, and the files as they are stored.
    """

    team: str
    key: str
    received: Received
    digest: str
    came_s: float
    source_sha256: str
    packed: bytes

    @classmethod
    def of(cls, team: str, received: Received, key: str | None, came_s: float) -> Asked:
        """Return what a team has asked for.

        Raises:
            RefusedError: 400: there is no key, or it is none.
        """
        if key is None or not _KEY.fullmatch(key):
            form = "8 to 72 letters, digits, dots, dashes and _"
            told = f"send an `Idempotency-Key` of {form}, a new one for each submission"
            raise RefusedError(400, "idempotency-key", told)
        sha256 = received.submission(team).sha256
        return cls(team, key, received, received.digest, came_s, sha256, pack_files(received.files))


@dataclass(frozen=True)
class Accepted:
    """A job, and whether this request made it (or an earlier one with its key did).

    Attributes:
        nth: of the jobs of its team that wait for a build, when it was made.
    """

    job: Job
    new: bool
    nth: int = 0


Answer: TypeAlias = "Accepted | RefusedError"


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
    asked = Asked.of(team, received, key, now_s)
    hold_teams(connection, [team])
    (answer,) = accept_all(connection, [asked], rules, limits, now_s)
    if isinstance(answer, RefusedError):
        raise answer
    return answer


def accept_all(
    connection: Connection, asked: Sequence[Asked], rules: Rules, limits: Limits, now_s: float
) -> list[Answer]:
    """Queue submissions of teams that the connection holds, and return what each request is answered."""
    intake = _Intake(connection, asked, rules, limits, now_s)
    answers = [intake.answer(one) for one in asked]
    intake.store(connection)
    return answers


class _Intake:
    """Some requests, and what has to be known of the database to answer them, read once for all."""

    def __init__(
        self, connection: Connection, asked: Sequence[Asked], rules: Rules, limits: Limits, now_s: float
    ) -> None:
        self._rules, self._limits, self._now_s = rules, limits, now_s
        self._known = _find_known(connection, asked)
        self._stopped = {row.problem: row.reason for row in connection.execute(select(frozen))}
        self._used = count_used(connection, {one.team for one in asked}, now_s)
        # What came first is first in its team's queue, also within a millisecond.
        self._names = iter(sorted(new_record_id(now_s) for _ in asked))
        self._rows: list[dict[str, Any]] = []
        self._packed: dict[str, bytes] = {}

    def answer(self, asked: Asked) -> Answer:
        """Decide on one request, after those before it."""
        known = self._known.get((asked.team, asked.key))
        if known is not None:
            digest, job = known
            if digest == asked.digest:
                return Accepted(job, new=False)
            told = "this `Idempotency-Key` was sent with another submission: make a new one for each submission"
            return RefusedError(422, "idempotency-key-reused", told)
        used = self._used.get(asked.team, Used())
        try:
            target, division = check_open(asked.received, self._stopped, self._rules, asked.came_s)
            used.check(self._limits, self._now_s)
        except RefusedError as error:
            return error
        return self._take(asked, target, division, used)

    def store(self, connection: Connection) -> None:
        """Insert what was taken; sources in one order, lest two servers wait for each other."""
        insert_all_missing(connection, sources, [{"sha256": k, "files": v} for k, v in sorted(self._packed.items())])
        if self._rows:
            connection.execute(insert(jobs), self._rows)

    def _take(self, asked: Asked, target: str, division: str, used: Used) -> Accepted:
        row = _describe(asked, target, division, self._rules)
        row = _job_row(next(self._names), self._now_s, row, asked.key, asked.digest)
        job = _job_of(row)
        self._rows.append(row)
        self._packed[asked.source_sha256] = asked.packed
        self._known[asked.team, asked.key] = asked.digest, job
        self._used[asked.team] = used.one_more(self._now_s)
        return Accepted(job, new=True, nth=used.waiting + 1)


def check_open(received: Received, stopped: Mapping[str, str], rules: Rules, came_s: float) -> tuple[str, str]:
    """Return the target and division that a submission is for, if the season takes it.

    Args:
        received: the submission.
        stopped: problems that organisers have stopped, with their reasons.
        rules: the season.
        came_s: when it came.

    Raises:
        RefusedError: closed, not yet open, frozen, not in the season, or of another version of the problem.
    """
    season = rules.season
    if (why := rules.why_not_open(came_s)) is not None:
        raise RefusedError(403, "season-closed" if rules.phase(came_s) == "closed" else "season-not-open", why)
    target, division = received.target or season.targets[0], received.division or season.divisions[0]
    problem = _one_of("problem", received.problem, list(rules.problems), _aliases(rules))
    _one_of("target", target, list(season.targets))
    _one_of("division", division, list(season.divisions))
    _one_of("suite", received.suite, list(season.problems[problem].suites))
    if (reason := stopped.get(problem, stopped.get(ALL_PROBLEMS))) is not None:
        what = problem if problem in stopped else "every problem"
        raise RefusedError(403, "frozen", f"the organisers have stopped submissions of {what} for now: {reason}")
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
    row = _job_row(name, now_s, row, f"rerun-{name}", "")
    connection.execute(insert(jobs), [row])
    return _job_of(row)


def _find_known(connection: Connection, asked: Iterable[Asked]) -> dict[tuple[str, str], tuple[str, Job]]:
    """Return the jobs that earlier requests with these keys have made, and the digests of those requests."""
    keys = tuple_(jobs.c.team, jobs.c.idempotency_key).in_([(one.team, one.key) for one in asked])
    found: Iterable[Row[Any]] = connection.execute(select(jobs).where(keys))
    return {(row.team, row.idempotency_key): (row.request_sha256, read_job(row)) for row in found}


def _one_of(what: str, name: str, known: list[str], aliases: dict[str, str] | None = None) -> str:
    found = (aliases or {}).get(name, name)
    if found not in known:
        raise RefusedError(422, f"unknown-{what}", f"the season has no {what} {name!r}: it has {', '.join(known)}")
    return found


def _aliases(rules: Rules) -> dict[str, str]:
    return {alias: name for name, problem in rules.problems.items() for alias in problem.aliases}


def _describe(asked: Asked, target: str, division: str, rules: Rules) -> dict[str, Any]:
    problem = _aliases(rules).get(asked.received.problem, asked.received.problem)
    return {
        "team": asked.team,
        "problem": problem,
        "target": target,
        "division": division,
        "suite": asked.received.suite,
        "season": rules.season.name,
        "problem_version": rules.problems[problem].version,
        "source_sha256": asked.source_sha256,
        "submitted_s": asked.came_s,
        "rerun_of": None,
    }


def _job_row(name: str, now_s: float, row: dict[str, Any], key: str, digest: str) -> dict[str, Any]:
    fresh = {"stage": BUILD, "state": QUEUED, "attempt": 0, "faults": 0, "interruptions": 0}
    times = {"created_s": now_s, "queued_s": now_s}
    return {"id": name, **row, **fresh, **times, "idempotency_key": key, "request_sha256": digest}


def _job_of(row: Mapping[str, Any]) -> Job:
    return Job(**{name: row.get(name) for name in Job.__dataclass_fields__})  # type: ignore[arg-type]
