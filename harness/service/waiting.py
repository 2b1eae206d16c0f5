"""How long it will take: a job's position in its queue, and an estimate from what similar jobs took.

The position follows `queue`'s turns: before a team's nth job, every other team is served n times or n - 1 times. The
estimate is the work before it at the observed pace, shared by the workers that are alive. It is a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sqlalchemy import Connection, func, null, select

from harness.service.job import BUILD, DONE, HELD, QUEUED, REPLAY, STAGES, Job, read_job
from harness.service.schema import jobs, turns, workers

OBSERVED = 200
"""As many of the last jobs say how long a stage takes."""

ALIVE_S = 60.0
WATCH_S = 1.0


@dataclass(frozen=True)
class Pace:
    """What is known of the service's speed.

    Attributes:
        durations_s: the median of what each stage took, where anything was observed.
        workers: how many of each stage are alive.
    """

    durations_s: Mapping[str, float]
    workers: Mapping[str, int]


@dataclass(frozen=True)
class Wait:
    """A job's place.

    Attributes:
        position: 1 for the next one; 0 once it is under way or done.
        estimate_s: how long until it is done; None where nothing was observed, or nobody works.
    """

    position: int
    estimate_s: float | None


def observe(connection: Connection, now_s: float) -> Pace:
    """Return how fast the service is now."""
    newest = select(*(jobs.c[f"{stage}_s"] for stage in STAGES)).where(jobs.c.state == DONE)
    rows = connection.execute(newest.order_by(jobs.c.finished_s.desc()).limit(OBSERVED)).all()
    seen = {stage: [row[i] for row in rows if row[i] is not None] for i, stage in enumerate(STAGES)}
    durations = {stage: float(median(took_s)) for stage, took_s in seen.items() if took_s}
    alive = select(workers.c.stage, func.count()).where(workers.c.seen_s > now_s - ALIVE_S).group_by(workers.c.stage)
    return Pace(durations, {row[0]: row[1] for row in connection.execute(alive)})


def wait_of(connection: Connection, job: Job, pace: Pace, now_s: float) -> Wait:
    """Return a job's position and estimate."""
    if job.state == DONE:
        return Wait(0, 0.0)
    if job.state in HELD:
        return _wait_at(job, 0, pace, now_s)
    position = _look_at(connection, job.stage).find_position(job.team, _rank_among_own(connection, job))
    return _wait_at(job, position, pace, now_s)


class Watch:
    """What is known of the queue, looked at again after a moment: a rush asks the same for everybody.

    Positions are as old as that; they change with every submission of others anyway.
    """

    def __init__(self) -> None:
        self._seen: _Seen | None = None

    def refresh(self, connection: Connection, now_s: float) -> _Seen:
        """Look at the queue, unless that was a moment ago."""
        seen = self._seen
        if seen is None or not 0 <= now_s - seen.at_s < WATCH_S:
            lines = {stage: _look_at(connection, stage) for stage in STAGES}
            self._seen = seen = _Seen(now_s, observe(connection, now_s), lines)
        return seen

    def is_fresh(self, now_s: float) -> bool:
        """Say whether the queue was looked at a moment ago."""
        return self._seen is not None and 0 <= now_s - self._seen.at_s < WATCH_S

    def wait_of(self, connection: Connection, job: Job, now_s: float) -> Wait:
        """Return a job's position and estimate, as `wait_of` does."""
        seen = self.refresh(connection, now_s)
        if job.state != QUEUED:
            return wait_of(connection, job, seen.pace, now_s)
        return seen.wait_of(job, _rank_among_own(connection, job))

    def wait_of_new(self, job: Job, nth: int) -> Wait:
        """Return what is known of a job that has just been queued, as the nth of its team's; no database is asked."""
        return self._seen.wait_of(job, nth) if self._seen is not None else Wait(nth, None)


@dataclass(frozen=True)
class _Line:
    """What waits for a stage at one moment.

    Attributes:
        waiting: how many jobs, by team.
        order: these teams as their turns come.
        busy: how many jobs of any team are under way.
        served_s: when any team had its last turn.
    """

    waiting: Mapping[str, int]
    order: Sequence[str]
    busy: Mapping[str, int]
    served_s: Mapping[str, float]

    def find_position(self, team: str, nth: int) -> int:
        """Return the position of a team's nth waiting job; the team may have come since."""
        order = self.order
        if team not in self.waiting:
            order = [other for other in order if self._turn(other) <= self._turn(team)] + [team]
        return find_position(team, nth, self.waiting, order)

    def _turn(self, team: str) -> tuple[int, float]:
        return self.busy.get(team, 0), self.served_s.get(team, 0.0)


@dataclass(frozen=True)
class _Seen:
    """The queue at one moment: the pace, and what waits for each stage."""

    at_s: float
    pace: Pace
    lines: Mapping[str, _Line]

    def wait_of(self, job: Job, nth: int) -> Wait:
        position = self.lines[job.stage].find_position(job.team, nth)
        return Wait(position, _estimate(job.stage, position, self.pace))


def find_position(team: str, nth: int, waiting: Mapping[str, int], order: Sequence[str]) -> int:
    """Return the position of a team's nth waiting job when teams take turns.

    Args:
        team: whose job.
        nth: 1 for the team's next one.
        waiting: how many jobs wait, by team.
        order: the teams as their turns come, the next one first; a team that is not there comes after them.
    """
    ahead = set(order[: order.index(team)] if team in order else order)
    others = (min(count, nth if other in ahead else nth - 1) for other, count in waiting.items() if other != team)
    return nth + sum(others)


def list_queue(
    connection: Connection, pace: Pace, now_s: float, limit: int = 1000, skip: int = 0
) -> list[tuple[Job, Wait]]:
    """Return the jobs that are not done, with what `wait_of` says of them, in the order in which they are served.

    Those under way come first, then what waits for its last stage. Jobs are without the records of their builds, which
    are large, and shown to nobody yet.
    """
    positions = dict(_list_in_turns(connection)[skip : skip + limit])
    columns = [null().label(column.name) if column is jobs.c.checked else column for column in jobs.c]
    rows = connection.execute(select(*columns).where(jobs.c.id.in_(positions)))
    found = {row.id: read_job(row) for row in rows}
    listed = ((found[name], position) for name, position in positions.items())
    return [(job, _wait_at(job, position, pace, now_s)) for job, position in listed]


def count_waiting(connection: Connection) -> dict[tuple[str, str], int]:
    """Return how many jobs there are, by stage and state; done ones apart."""
    query = select(jobs.c.stage, jobs.c.state, func.count()).where(jobs.c.state.in_((*HELD, QUEUED)))
    rows = connection.execute(query.group_by(jobs.c.stage, jobs.c.state))
    return {(stage, state): count for stage, state, count in rows}


def _rank_among_own(connection: Connection, job: Job) -> int:
    own = (jobs.c.state == QUEUED, jobs.c.stage == job.stage, jobs.c.team == job.team, jobs.c.id <= job.id)
    return int(connection.execute(select(func.count()).where(*own)).scalar_one())


def _list_in_turns(connection: Connection) -> list[tuple[str, int]]:
    """Return the ids of the jobs that are not done, each with its position."""
    held = select(jobs.c.id).where(jobs.c.state.in_(HELD)).order_by(jobs.c.started_s, jobs.c.id)
    listed = [(name, 0) for name in connection.scalars(held)]
    for stage in reversed(STAGES):
        turn = {team: number for number, team in enumerate(_look_at(connection, stage).order)}
        waiting = select(jobs.c.id, jobs.c.team).where(jobs.c.state == QUEUED, jobs.c.stage == stage)
        own: Counter[str] = Counter()
        places = []
        for name, team in connection.execute(waiting.order_by(jobs.c.id)):
            own[team] += 1
            places.append((own[team], turn[team], name))
        listed += [(name, position) for position, (*_, name) in enumerate(sorted(places), 1)]
    return listed


def _wait_at(job: Job, position: int, pace: Pace, now_s: float) -> Wait:
    spent_s = 0.0 if position else max(0.0, now_s - (job.started_s or now_s))
    return Wait(position, _estimate(job.stage, position, pace, spent_s))


def _look_at(connection: Connection, stage: str) -> _Line:
    counted = select(jobs.c.team, func.count(), func.min(jobs.c.id)).where(
        jobs.c.state == QUEUED, jobs.c.stage == stage
    )
    rows = connection.execute(counted.group_by(jobs.c.team)).all()
    held = select(jobs.c.team, func.count()).where(jobs.c.state.in_(HELD)).group_by(jobs.c.team)
    busy = {row[0]: row[1] for row in connection.execute(held)}
    served_s = {row.team: row.served_s for row in connection.execute(select(turns).where(turns.c.stage == stage))}
    order = sorted(rows, key=lambda row: (busy.get(row[0], 0), served_s.get(row[0], 0.0), row[2]))
    return _Line({team: count for team, count, _ in rows}, [row[0] for row in order], busy, served_s)


def _estimate(stage: str, position: int, pace: Pace, spent_s: float = 0.0) -> float | None:
    duration_s, hands = pace.durations_s.get(stage), pace.workers.get(stage, 0)
    if duration_s is None or not hands:
        return None
    rounds = 1 + max(0, position - 1) / hands
    own_s = max(duration_s - spent_s, 0.1 * duration_s) if not position else rounds * duration_s
    then_s = pace.durations_s.get(REPLAY, 0.0) if stage == BUILD and pace.workers.get(REPLAY) else 0.0
    return own_s + then_s
