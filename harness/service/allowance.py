"""What teams have used of their limits: submissions that are not done, submissions of the last hour.

What an organiser wanted run again counts for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from harness.service.errors import RefusedError
from harness.service.job import BUILD, HELD, QUEUED, STAGES
from harness.service.schema import jobs
from harness.service.settings import Limits

PENDING_RETRY_S = 60.0
HOUR_S = 3600.0


@dataclass(frozen=True)
class Used:
    """What one team has used.

    Attributes:
        pending: submissions that are not done.
        recent: submissions of the last hour; the first of them came at `oldest_s`.
        waiting: jobs of all kinds that wait for a build.
    """

    pending: int = 0
    recent: int = 0
    oldest_s: float = 0.0
    waiting: int = 0

    def check(self, limits: Limits, now_s: float) -> None:
        """Refuse one more submission than is allowed.

        Raises:
            RefusedError: 429, with when to try again.
        """
        if self.pending >= limits.pending:
            told = f"{self.pending} of your submissions are not evaluated yet; {limits.pending} are allowed at a time"
            raise RefusedError(429, "too-many-pending", told, retry_after_s=PENDING_RETRY_S)
        if self.recent >= limits.per_hour:
            retry_s = self.oldest_s + HOUR_S - now_s
            told = f"{self.recent} submissions in the last hour; {limits.per_hour} are allowed: "
            raise RefusedError(429, "rate-limit", f"{told}again in {retry_s / 60:.0f} minutes", retry_after_s=retry_s)

    def one_more(self, now_s: float) -> Used:
        """Return what it is with one more submission."""
        oldest_s = self.oldest_s if self.recent else now_s
        return Used(self.pending + 1, self.recent + 1, oldest_s, self.waiting + 1)


def count_used(connection: Connection, teams: Iterable[str], now_s: float) -> dict[str, Used]:
    """Return what teams have used, by their names; an index finds what is not done, and another what is new."""
    mine, own = jobs.c.team.in_(sorted(teams)), jobs.c.rerun_of.is_(None)
    to_build = (jobs.c.state == QUEUED) & (jobs.c.stage == BUILD)
    undone = select(jobs.c.team, func.count().filter(own), func.count().filter(to_build)).where(
        mine, jobs.c.state.in_((QUEUED, *HELD)), jobs.c.stage.in_(STAGES)
    )
    fresh = select(jobs.c.team, func.count(), func.min(jobs.c.created_s)).where(
        mine, own, jobs.c.created_s > now_s - HOUR_S
    )
    used = {
        team: Used(pending=pending, waiting=waiting)
        for team, pending, waiting in connection.execute(undone.group_by(jobs.c.team))
    }
    for team, recent, oldest_s in connection.execute(fresh.group_by(jobs.c.team)):
        used[team] = replace(used.get(team, Used()), recent=recent, oldest_s=oldest_s)
    return used
