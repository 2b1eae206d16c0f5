"""Records that teams post from their own machines: kept apart, listed as unverified, never ranked.

Such a record is whatever its sender wrote, and hostile. It is parsed strictly, capped in size and depth, held against
the token's team, and stored in a table of its own under a name of ours, so that nothing that ranks can ever meet it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, func, insert, select

from harness.errors import StoreError
from harness.service.allowance import HOUR_S
from harness.service.errors import RefusedError
from harness.service.job import iso
from harness.service.received import parse_body
from harness.service.rules import Rules
from harness.service.schema import unverified
from harness.service.settings import Limits
from harness.service.teams import Holder, hold_team
from harness.store.ids import new_record_id
from harness.store.record import Record, decode_record, encode_record
from harness.text import clean

MAX_BYTES = 2 << 20
MAX_NESTED = 24
MAX_PARTS, MAX_VALUES = 5_000, 40_000
"""Objects and arrays in a record, and all that is in them: some times a real one's, so that none is slow to show."""

WHY = "made on the team's own machine, and not verified by this service"


def post_record(connection: Connection, holder: Holder, body: bytes, rules: Rules, limits: Limits, now_s: float) -> str:
    """Keep a team's own record and return the name that it has here; the same one again has the same name.

    Raises:
        RefusedError: it is no record, another team's, too large, or one too many.
    """
    if not holder.team:
        raise RefusedError(403, "teams-only", "an organiser's token posts nothing: use a team's")
    if len(body) > MAX_BYTES:
        raise RefusedError(413, "too-large", f"a record has at most {MAX_BYTES:,} bytes, this one has {len(body):,}")
    document = parse_body(body)
    record = _read(document, holder, rules)
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    hold_team(connection, holder.team)
    mine = unverified.c.team == holder.team
    if (
        known := connection.execute(select(unverified.c.id).where(mine, unverified.c.digest == digest)).scalar()
    ) is None:
        _check_limit(connection, holder.team, limits, now_s)
        known = new_record_id(now_s)
        record = replace(record, id=known, ranked=False, unranked_reason=WHY, created=iso(now_s))
        place = {"problem": record.problem, "target": record.target, "division": record.division}
        row = {"team": holder.team, "created_s": now_s, "digest": digest, "document": encode_record(record)}
        connection.execute(insert(unverified).values(id=known, **place, **row))
    return str(known)


def _read(document: dict[str, Any], holder: Holder, rules: Rules) -> Record:
    _check_extent(document)
    try:
        record = decode_record(document)
        encode_record(record)
    except (StoreError, TypeError, ValueError, OverflowError) as error:
        raise RefusedError(422, "no-record", clean(str(error))[:300]) from None
    if record.team != holder.team:
        told = f"the record is of team {clean(record.team)[:40]!r}, the token of {holder.team!r}: post your own"
        raise RefusedError(403, "foreign-record", told)
    if record.state != "finished" or record.verdict is None:
        raise RefusedError(422, "no-record", "the record is not finished: post it once it is")
    season = rules.season
    if (record.problem in rules.problems) and record.target in season.targets and record.division in season.divisions:
        return record
    raise RefusedError(422, "no-record", "the season does not have the record's problem, target or division")


def _check_limit(connection: Connection, team: str, limits: Limits, now_s: float) -> None:
    recent = (unverified.c.team == team, unverified.c.created_s > now_s - HOUR_S)
    count, oldest_s = connection.execute(select(func.count(), func.min(unverified.c.created_s)).where(*recent)).one()
    if count >= limits.per_hour:
        told = f"{count} records posted in the last hour; {limits.per_hour} are allowed"
        raise RefusedError(429, "rate-limit", told, retry_after_s=oldest_s + HOUR_S - now_s)


def _check_extent(document: dict[str, Any]) -> None:
    """Refuse a document that is deep or has many parts, without recursion: it may be deeper than that takes.

    Raises:
        RefusedError: 400 or 413.
    """
    waiting: list[tuple[Any, int]] = [(document, 1)]
    parts = values = 0
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_NESTED:
            raise RefusedError(400, "malformed", "the record is nested too deeply")
        if isinstance(item, (dict, list)):
            parts, values = parts + 1, values + len(item)
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
        if parts > MAX_PARTS or values > MAX_VALUES:
            told = f"{MAX_PARTS:,} objects and arrays with {MAX_VALUES:,} values"
            raise RefusedError(413, "too-large", f"a record has at most {told}, this one has more")
