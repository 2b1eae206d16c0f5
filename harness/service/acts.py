"""The log of organisers' acts: appended to, never changed; the database itself refuses to (a trigger).

Whoever acts writes its act in the transaction of what it does, so that neither is there without the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from harness.errors import UsageError
from harness.service.schema import acts

MAX_REASON = 2000


@dataclass(frozen=True)
class Act:
    """One act.

    Attributes:
        actor: who: an organiser by the name of the token, or whoever typed `harness admin`.
        act: "disqualify", "reinstate", "rerun", "freeze", "thaw", "token", "revoke", "team", "season".
        subject: of what: a record, a team, a problem, a token's id, a season.
        reason: why, for everybody to read.
    """

    id: int
    at_s: float
    actor: str
    act: str
    subject: str
    reason: str
    details: Mapping[str, Any]


def log_act(
    connection: Connection,
    actor: str,
    act: str,
    subject: str,
    reason: str,
    *,
    now_s: float,
    details: Mapping[str, Any] | None = None,
) -> int:
    """Append an act and return its number.

    Raises:
        UsageError: the reason is too long.
    """
    if len(reason) > MAX_REASON:
        raise UsageError(f"the reason has {len(reason)} characters; {MAX_REASON} are allowed")
    row = {"at_s": now_s, "actor": actor[:120], "act": act, "subject": subject[:200], "reason": reason}
    result = connection.execute(insert(acts).values(**row, details=dict(details or {})).returning(acts.c.id))
    return int(result.scalar_one())


def want_reason(reason: str) -> None:
    """Refuse an act without a reason.

    Raises:
        UsageError: there is none.
    """
    if not reason.strip():
        raise UsageError("say why: the reason stands in the log of acts, for everybody to read")


def list_acts(connection: Connection, *, before: int | None = None, limit: int = 100) -> list[Act]:
    """Return acts, the newest first; those before the number `before`, where that is given."""
    query = select(acts).order_by(acts.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(acts.c.id < before)
    return [Act(r.id, r.at_s, r.actor, r.act, r.subject, r.reason, r.details) for r in connection.execute(query)]


def newest_act(connection: Connection, act: str, subject: str) -> Act | None:
    """Return the newest act of a kind on a subject, None if there is none."""
    query = select(acts).where(acts.c.act == act, acts.c.subject == subject).order_by(acts.c.id.desc()).limit(1)
    row = connection.execute(query).first()
    return Act(row.id, row.at_s, row.actor, row.act, row.subject, row.reason, row.details) if row else None
