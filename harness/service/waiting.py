"""How long it will take: a job's position in its queue, and an estimate from what similar jobs took.

The position follows `queue`'s turns: before a team's nth job, every other team is served n times or n - 1 times. The
estimate is the work before it at the observed pace, shared by the workers that are alive. It is a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sqlalchemy import Connection, case, func, null, select

from harness.service.job import BUILD, DONE, HELD, QUEUED, REPLAY, STAGES, Job, read_job
from harness.service.schema import jobs, turns, workers

OBSERVED = 50
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
    durations = {}
    for stage in STAGES:
        column = jobs.c[f"{stage}_s"]
        newest = select(column).where(jobs.c.state == DONE, column.is_not(None)).order_by(jobs.c.finished_s.desc())
        seen = list(connection.scalars(newest.limit(OBSERVED)))
        if seen:
            durations[stage] = float(median(seen))
    alive = select(workers.c.stage, func.count()).where(workers.c.seen_s > now_s - ALIVE_S).group_by(workers.c.stage)
    return Pace(durations, {row[0]: row[1] for row in connection.execute(alive)})


def wait_of(connection: Connection, job: Job, pace: Pace, now_s: float) -> Wait:
    """Return a job's position and estimate."""
    if job.state == DONE:
        return Wait(0, 0.0)
    if job.state in HELD:
        spent_s = max(0.0, now_s - (job.started_s or now_s))
        return Wait(0, _estimate(job.stage, 0, pace, spent_s))
    position = find_position(job.team, _rank_among_own(connection, job), *_queue_of(connection, job.stage))
    return Wait(position, _estimate(job.stage, position, pace))


class Watch:
    """What is known of the queue, looked at again after a moment: a rush asks the same for everybody.

    Positions are as old as that; they change with every submission of others anyway.
    """

    def __init__(self) -> None:
        self._seen: tuple[float, Pace, dict[str, tuple[dict[str, int], list[str]]]] | None = None

    def wait_of(self, connection: Connection, job: Job, now_s: float) -> Wait:
        """Return a job's position and estimate, as `wait_of` does."""
        seen = self._seen
        if seen is None or not 0 <= now_s - seen[0] < WATCH_S:
            queues = {stage: _queue_of(connection, stage) for stage in STAGES}
            self._seen = seen = (now_s, observe(connection, now_s), queues)
        _, pace, queues = seen
        if job.state != QUEUED:
            return wait_of(connection, job, pace, now_s)
        position = find_position(job.team, _rank_among_own(connection, job), *queues[job.stage])
        return Wait(position, _estimate(job.stage, position, pace))


def list_waits(connection: Connection, queue: Sequence[Job], pace: Pace, now_s: float) -> list[Wait]:
    """Return what `wait_of` does for a part of the queue, as `list_queue` lists it, in a few queries."""
    queues = {stage: _queue_of(connection, stage) for stage in STAGES}
    own = _count_before(connection, queue)
    waits = []
    for job in queue:
        if job.state == QUEUED:
            own[job.stage, job.team] += 1
            position = find_position(job.team, own[job.stage, job.team], *queues[job.stage])
            waits.append(Wait(position, _estimate(job.stage, position, pace)))
        else:
            waits.append(Wait(0, _estimate(job.stage, 0, pace, max(0.0, now_s - (job.started_s or now_s)))))
    return waits


def find_position(team: str, nth: int, waiting: Mapping[str, int], order: Sequence[str]) -> int:
    """Return the position of a team's nth waiting job when teams take turns.

    Args:
        team: whose job.
        nth: 1 for the team's next one.
        waiting: how many jobs wait, by team.
        order: the teams in whose turn it is now, the next one first.
    """
    ahead = set(order[: order.index(team)]) if team in order else set()
    others = (min(count, nth if other in ahead else nth - 1) for other, count in waiting.items() if other != team)
    return nth + sum(others)


def list_queue(connection: Connection, limit: int | None = None, skip: int = 0) -> list[Job]:
    """Return the jobs that are not done: those under way, then those that wait, by age.

    Without the records of their builds, which are large, and shown to nobody yet.
    """
    columns = [null().label(column.name) if column is jobs.c.checked else column for column in jobs.c]
    order = (case((jobs.c.state == QUEUED, 1), else_=0), case((jobs.c.state != QUEUED, jobs.c.started_s)), jobs.c.id)
    query = select(*columns).where(jobs.c.state.in_((*HELD, QUEUED))).order_by(*order)
    return [read_job(row) for row in connection.execute(query.limit(limit).offset(skip))]


def count_waiting(connection: Connection) -> dict[tuple[str, str], int]:
    """Return how many jobs there are, by stage and state; done ones apart."""
    query = select(jobs.c.stage, jobs.c.state, func.count()).where(jobs.c.state != DONE)
    rows = connection.execute(query.group_by(jobs.c.stage, jobs.c.state))
    return {(stage, state): count for stage, state, count in rows}


def _rank_among_own(connection: Connection, job: Job) -> int:
    own = (jobs.c.state == QUEUED, jobs.c.stage == job.stage, jobs.c.team == job.team, jobs.c.id <= job.id)
    return int(connection.execute(select(func.count()).where(*own)).scalar_one())


def _count_before(connection: Connection, queue: Sequence[Job]) -> Counter[tuple[str, str]]:
    """Return how many jobs wait before a part of the queue, by stage and team."""
    shown = [job.id for job in queue if job.state == QUEUED]
    counts: Counter[tuple[str, str]] = Counter()
    if shown:
        before = (jobs.c.state == QUEUED, jobs.c.id < min(shown))
        query = select(jobs.c.stage, jobs.c.team, func.count()).where(*before).group_by(jobs.c.stage, jobs.c.team)
        counts.update({(stage, team): count for stage, team, count in connection.execute(query)})
    return counts


def _queue_of(connection: Connection, stage: str) -> tuple[dict[str, int], list[str]]:
    """Return how many jobs of each team wait for a stage, and the teams in the order of their turns."""
    counted = select(jobs.c.team, func.count(), func.min(jobs.c.id)).where(
        jobs.c.state == QUEUED, jobs.c.stage == stage
    )
    rows = connection.execute(counted.group_by(jobs.c.team)).all()
    held = select(jobs.c.team, func.count()).where(jobs.c.state.in_(HELD)).group_by(jobs.c.team)
    busy = {row[0]: row[1] for row in connection.execute(held)}
    served = {row.team: row.served_s for row in connection.execute(select(turns).where(turns.c.stage == stage))}
    order = sorted(rows, key=lambda row: (busy.get(row[0], 0), served.get(row[0], 0.0), row[2]))
    return {team: count for team, count, _ in rows}, [row[0] for row in order]


def _estimate(stage: str, position: int, pace: Pace, spent_s: float = 0.0) -> float | None:
    duration_s, hands = pace.durations_s.get(stage), pace.workers.get(stage, 0)
    if duration_s is None or not hands:
        return None
    rounds = 1 + max(0, position - 1) / hands
    own_s = max(duration_s - spent_s, 0.1 * duration_s) if not position else rounds * duration_s
    then_s = pace.durations_s.get(REPLAY, 0.0) if stage == BUILD and pace.workers.get(REPLAY) else 0.0
    return own_s + then_s
