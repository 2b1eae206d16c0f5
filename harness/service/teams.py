"""Teams and tokens: who somebody is, told by a secret that only they have.

A token is `hel_ID_SECRET`, 256 bits from the system's random source. It is shown once, when it is made; what is kept is
its SHA-256, which is enough for a secret that nobody could guess (passwords would need a slow hash). It is looked up by
its ID and compared in constant time. A token comes from anybody: it is trusted when it has been found, and not before.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from harness.errors import UsageError
from harness.service.errors import RefusedError
from harness.service.schema import teams, tokens
from harness.spec.team import find_name_fault
from harness.store.ids import new_record_id, utc_now
from harness.submission import check_team_name

PARTICIPANT, ORGANISER = "participant", "organiser"
DEFAULT_DAYS = 90.0

_TOKEN = re.compile(r"hel_([0-9a-z]{14})_([A-Za-z0-9_-]{43})")
_NOT_OURS = "ask the organisers for a token of this server"


@dataclass(frozen=True)
class Holder:
    """Whoever sent a valid token.

    Attributes:
        token: its id; not secret.
        role: "participant" or "organiser".
        team: a participant's team; empty for an organiser.
        name: how the log of acts calls an organiser.
    """

    token: str
    role: str
    team: str
    name: str

    @property
    def organises(self) -> bool:
        """Whether it may do what organisers do."""
        return self.role == ORGANISER


@dataclass(frozen=True)
class Token:
    """A token as it may be listed; the secret is not in it."""

    id: str
    role: str
    team: str
    holder: str
    expires_s: float
    revoked: bool


def hold_team(connection: Connection, name: str) -> None:
    """Let nobody else who asks for it go on with a team until this transaction ends (SQLite has one writer anyway)."""
    connection.execute(select(teams.c.name).where(teams.c.name == name).with_for_update())


def hold_teams(connection: Connection, names: Iterable[str], *, wait: bool = True) -> set[str]:
    """Hold teams as `hold_team` does, and return which of them are held.

    Args:
        connection: a writing one.
        names: which.
        wait: for those that somebody else holds; otherwise they are left out.
    """
    query = select(teams.c.name).where(teams.c.name.in_(sorted(set(names)))).order_by(teams.c.name)
    return set(connection.scalars(query.with_for_update(skip_locked=not wait)))


def add_team(connection: Connection, name: str, title: str = "") -> None:
    """Add a team.

    Raises:
        UsageError: the name is of the wrong form, is kept for the harness, or looks like another team's.
    """
    check_team_name(name)
    others = list_teams(connection)
    if name in others:
        raise UsageError(f"there is a team {name!r} already")
    if fault := find_name_fault(name, others):
        raise UsageError(fault)
    connection.execute(insert(teams).values(name=name, title=title[:200], created=utc_now()))


def list_teams(connection: Connection) -> list[str]:
    """Return the teams' names, sorted."""
    return list(connection.scalars(select(teams.c.name).order_by(teams.c.name)))


def find_title(connection: Connection, name: str) -> str:
    """Return how a team wants to be called in full, empty if it has not said."""
    return connection.execute(select(teams.c.title).where(teams.c.name == name)).scalar() or ""


def issue_token(
    connection: Connection, *, team: str = "", holder: str = "", now_s: float, days: float = DEFAULT_DAYS
) -> tuple[str, str]:
    """Make a token and return its id and the token itself, which cannot be shown again.

    Args:
        connection: a writing one.
        team: whose; an organiser's if empty.
        holder: a name for people: who will use it.
        now_s: the time.
        days: how long it is valid.

    Raises:
        UsageError: there is no such team, or an organiser has no name.
    """
    if team and connection.execute(select(teams.c.name).where(teams.c.name == team)).first() is None:
        raise UsageError(f"there is no team {team!r}: harness admin team add {team}")
    if not team and not holder:
        raise UsageError("say whose token it is: the log of acts calls an organiser by it")
    if not 0 < days <= 3660:
        raise UsageError("a token is valid for more than 0 and at most 3660 days")
    name, secret = new_record_id(now_s), secrets.token_urlsafe(32)
    connection.execute(
        insert(tokens).values(
            id=name,
            secret_sha256=_hash(secret),
            role=PARTICIPANT if team else ORGANISER,
            team=team,
            holder=(holder or team)[:80],
            created_s=now_s,
            expires_s=now_s + days * 86400,
        )
    )
    return name, f"hel_{name}_{secret}"


def identify(connection: Connection, authorization: str | None, now_s: float) -> Holder:
    """Return who sent an `Authorization` header.

    Raises:
        RefusedError: 401, with what to do: no token, not one of ours, expired or revoked.
    """
    scheme, _, text = (authorization or "").partition(" ")
    if not authorization:
        raise RefusedError(401, "token-missing", "this needs a token: send `Authorization: Bearer TOKEN`")
    match = _TOKEN.fullmatch(text.strip()) if scheme.lower() == "bearer" else None
    if match is None:
        raise RefusedError(401, "token-malformed", f"this is no whole token of this server (hel_...): {_NOT_OURS}")
    row = connection.execute(select(tokens).where(tokens.c.id == match[1])).first()
    # An unknown id is compared too, so that the time taken tells nothing of which ids there are.
    same = hmac.compare_digest(_hash(match[2]), row.secret_sha256 if row else _hash(""))
    if row is None or not same:
        raise RefusedError(401, "token-foreign", f"this server did not make this token, or it is damaged: {_NOT_OURS}")
    if fault := _find_fault(row, now_s):
        raise fault
    return Holder(row.id, row.role, row.team, row.holder)


def find_faults(connection: Connection, names: Iterable[str], now_s: float) -> dict[str, RefusedError]:
    """Return which of some tokens, all shown by whoever has them, are valid no more; by their ids."""
    rows = connection.execute(select(tokens).where(tokens.c.id.in_(sorted(set(names)))))
    return {row.id: fault for row in rows if (fault := _find_fault(row, now_s))}


def revoke_token(connection: Connection, name: str, now_s: float) -> Token:
    """Revoke a token by its id (the middle part of it).

    Raises:
        UsageError: there is no such token.
    """
    row = connection.execute(select(tokens).where(tokens.c.id == name)).first()
    if row is None:
        raise UsageError(f"there is no token {name[:40]!r}: `harness admin token list` shows their ids")
    connection.execute(update(tokens).where(tokens.c.id == name, tokens.c.revoked_s.is_(None)).values(revoked_s=now_s))
    return _token(row)


def list_tokens(connection: Connection) -> list[Token]:
    """Return every token, without secrets, by team and age."""
    return [_token(row) for row in connection.execute(select(tokens).order_by(tokens.c.team, tokens.c.id))]


def _find_fault(row: Row[Any], now_s: float) -> RefusedError | None:
    if row.revoked_s is not None:
        return RefusedError(401, "token-revoked", "the organisers have revoked this token: ask them for another")
    if row.expires_s <= now_s:
        return RefusedError(401, "token-expired", "this token has expired: ask the organisers for another")
    return None


def _token(row: Row[tuple[object, ...]]) -> Token:
    return Token(row.id, row.role, row.team, row.holder, row.expires_s, row.revoked_s is not None)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
