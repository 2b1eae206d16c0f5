"""What the pages show that only a live site has: the queue, and the organisers' log."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from harness.service.acts import Act as StoredAct
from harness.service.acts import list_acts
from harness.service.job import QUEUED, STAGES, Job, iso
from harness.service.rules import tell_changes
from harness.service.schema import acts, frozen
from harness.service.waiting import Wait, count_waiting, list_queue, observe, wait_of
from harness.site.live_views import Act, ActsView, QueueView
from harness.site.views import ENTRIES, QueueRow, cut


def list_notices(connection: Connection, problem: str | None = None) -> tuple[str, ...]:
    """Return what organisers have stopped: everything, or a problem; each one of them if none is named."""
    query = select(frozen).order_by(frozen.c.problem)
    if problem is not None:
        query = query.where(frozen.c.problem.in_(["", problem]))
    told = "Frozen by the organisers, nothing is accepted or started for now: "
    rows = connection.execute(query)
    return tuple(
        f"{row.problem}: {told}{row.reason}" if row.problem and problem is None else told + row.reason for row in rows
    )


def fill_queue(connection: Connection, number: int, now_s: float) -> QueueView:
    """Fill a page of the queue; one too far on is the last."""
    part, window = cut(sum(count_waiting(connection).values()), number)
    pace = observe(connection, now_s)
    rows = tuple(queue_row(job, wait) for job, wait in list_queue(connection, pace, now_s, ENTRIES, part.start))
    # Stages are told even where nobody works on them: that is why nothing moves then.
    workers = {stage: pace.workers.get(stage, 0) for stage in STAGES}
    return QueueView(rows, window, pace.durations_s, workers, list_notices(connection))


def fill_acts(connection: Connection, number: int) -> ActsView | None:
    """Fill a page of the organisers' log, None if it has no such page."""
    count = connection.execute(select(func.count()).select_from(acts)).scalar() or 0
    part, window = cut(count, number)
    if window.number != number:
        return None
    return ActsView(tuple(_shown_act(act) for act in list_acts(connection, limit=part.stop)[part]), window)


def find_waiting(connection: Connection, job: Job, now_s: float) -> QueueRow:
    """Return what the page of one submission says of its place."""
    return queue_row(job, wait_of(connection, job, observe(connection, now_s), now_s))


def queue_row(job: Job, wait: Wait) -> QueueRow:
    """Return what the queue's page says of a submission."""
    return QueueRow(
        record_id=job.id,
        team=job.team,
        problem=job.problem,
        target=job.target,
        state=job.state,
        since=iso(job.queued_s if job.state == QUEUED else job.started_s or job.queued_s),
        position=wait.position or None,
        stage=job.stage,
        attempt=1 + job.faults,
        estimate_s=wait.estimate_s,
    )


_WORDS = {
    "team": "team added",
    "token": "token issued",
    "revoke": "token revoked",
    "season": "season changed",
    "freeze": "frozen",
    "thaw": "goes on",
    "disqualify": "disqualified",
    "reinstate": "reinstated",
    "rerun": "run again",
}


def _shown_act(act: StoredAct) -> Act:
    about_record = act.act in ("disqualify", "reinstate", "rerun") and not act.subject.startswith("team ")
    subject = act.subject
    if about_record:
        subject = f"of {act.details['team']}" if "team" in act.details else ""
    elif act.act in ("token", "revoke"):
        whose = act.details.get("team") or act.details.get("organiser")
        subject = f"{act.subject}, of {whose}" if whose else act.subject
    elif act.act == "season":
        subject += f": {tell_changes(act.details)}"
    what = _WORDS.get(act.act, act.act)
    return Act(iso(act.at_s), act.actor, what, subject, act.reason, act.subject if about_record else "")
