"""What organisers do: rule out and reinstate, run again, stop and go on, teams and tokens.

Each is one transaction with its line in the log of acts; a reason is asked for where somebody will want to know it.
Records are never changed: a ruling changes what boards make of them.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, delete, select, update

from harness.errors import UsageError
from harness.service.accepting import rerun
from harness.service.acts import log_act, want_reason
from harness.service.entries import (
    ALL_PROGRAMS,
    DISQUALIFIED,
    BoardKey,
    find_ruling,
    lock_board,
    refresh_milestones,
    refresh_programs,
    refresh_setting,
    refresh_unranked,
)
from harness.service.job import DONE, QUEUED, Job, load_job
from harness.service.queue import ALL_PROBLEMS
from harness.service.rules import Rules
from harness.service.schema import disqualified, frozen, jobs, teams
from harness.service.teams import add_team, hold_team, issue_token, revoke_token
from harness.service.upsert import upsert
from harness.store.record import decode_record
from harness.store.rows import standing_of
from harness.store.schema import records

EVERYTHING = "all problems"
"""What the log calls them."""


def disqualify(
    connection: Connection, actor: str, reason: str, now_s: float, *, record: str = "", team: str = ""
) -> int:
    """Take a program off every board, or all programs of a team; return how many records it takes off.

    Args:
        connection: a writing one.
        actor: who.
        reason: why, for everybody to read.
        now_s: the time.
        record: the id of a run of the program; every other run of the team's is out, too, and so is any later one.
        team: whose programs all are out, now and later.

    Raises:
        UsageError: there is no such record or team, or no reason.
    """
    owner, program, record = _find_subject(connection, record, team)
    want_reason(reason)
    hold_team(connection, owner)
    subject = record or f"team {owner}"
    act = log_act(connection, actor, "disqualify", subject, reason, now_s=now_s, details=_details(owner, program))
    keys = {"team": owner, "program": program}
    upsert(connection, disqualified, keys, {"record": record, "reason": reason, "act": act})
    return _judge_again(connection, owner, program)


def reinstate(
    connection: Connection, actor: str, reason: str, now_s: float, *, record: str = "", team: str = ""
) -> int:
    """Take a ruling back; return how many records come back on boards.

    Raises:
        UsageError: there is no such ruling, or no reason.
    """
    owner, program, record = _find_subject(connection, record, team)
    want_reason(reason)
    hold_team(connection, owner)
    ruling = (disqualified.c.team == owner, disqualified.c.program == program)
    if connection.execute(delete(disqualified).where(*ruling)).rowcount != 1:
        raise UsageError(f"{record or owner} was not disqualified by itself: the log of acts says what was")
    subject = record or f"team {owner}"
    log_act(connection, actor, "reinstate", subject, reason, now_s=now_s, details=_details(owner, program))
    return _judge_again(connection, owner, program)


def run_again(connection: Connection, actor: str, job_id: str, reason: str, rules: Rules, now_s: float) -> Job:
    """Queue a submission once more.

    Raises:
        UsageError: there is no such submission, it is not done yet, or there is no reason.
    """
    job = load_job(connection, job_id)
    if job is None:
        raise UsageError(f"there is no submission {job_id[:40]!r} in the service's queue")
    if job.state != DONE:
        raise UsageError(f"submission {job.id} is not done yet: it will be evaluated anyway")
    want_reason(reason)
    again = rerun(connection, job, rules, now_s)
    log_act(connection, actor, "rerun", job.id, reason, now_s=now_s, details={"as": again.id, "team": job.team})
    return again


def freeze(connection: Connection, actor: str, problem: str, reason: str, rules: Rules, now_s: float) -> None:
    """Take and start nothing for a problem, or for all of them (""), until `thaw`. What is under way ends.

    Raises:
        UsageError: the season has no such problem, or there is no reason.
    """
    if problem not in (ALL_PROBLEMS, *rules.problems):
        raise UsageError(f"the season has no problem {problem!r}: {', '.join(rules.problems)}")
    want_reason(reason)
    act = log_act(connection, actor, "freeze", problem or EVERYTHING, reason, now_s=now_s)
    upsert(connection, frozen, {"problem": problem}, {"reason": reason, "act": act})


def thaw(connection: Connection, actor: str, problem: str, reason: str, now_s: float) -> None:
    """Go on with a problem, or with all of them ("").

    Raises:
        UsageError: it is not stopped.
    """
    if connection.execute(delete(frozen).where(frozen.c.problem == problem)).rowcount != 1:
        raise UsageError(f"{problem or 'the season'} is not frozen")
    # The time that they could not be evaluated in is not theirs to have waited for too long.
    waiting = (jobs.c.state == QUEUED, *([jobs.c.problem == problem] if problem else []))
    connection.execute(update(jobs).where(*waiting).values(queued_s=now_s))
    log_act(connection, actor, "thaw", problem or EVERYTHING, reason, now_s=now_s)


def list_frozen(connection: Connection) -> dict[str, str]:
    """Return why each stopped problem is; "" stands for all of them."""
    return {row.problem: row.reason for row in connection.execute(select(frozen))}


def found_team(connection: Connection, actor: str, name: str, title: str, now_s: float) -> None:
    """Add a team.

    Raises:
        UsageError: the name cannot be one.
    """
    add_team(connection, name, title)
    log_act(connection, actor, "team", name, "", now_s=now_s)


def give_token(
    connection: Connection, actor: str, now_s: float, *, team: str = "", holder: str = "", days: float
) -> tuple[str, str]:
    """Make a token and return its id and itself. The log has its id.

    Raises:
        UsageError: there is no such team, or an organiser's has no name.
    """
    name, token = issue_token(connection, team=team, holder=holder, now_s=now_s, days=days)
    whose = {"team": team} if team else {"organiser": holder}
    log_act(connection, actor, "token", name, "", now_s=now_s, details={**whose, "days": days})
    return name, token


def take_token(connection: Connection, actor: str, name: str, reason: str, now_s: float) -> None:
    """Revoke a token.

    Raises:
        UsageError: there is no such token.
    """
    token = revoke_token(connection, name, now_s)
    log_act(connection, actor, "revoke", name, reason, now_s=now_s, details={"team": token.team})


def _find_subject(connection: Connection, record: str, team: str) -> tuple[str, str, str]:
    """Return the team, the program ("" for all of them) and the record's id that a ruling is about."""
    if bool(record) == bool(team):
        raise UsageError("name either a record or a team")
    if team:
        if connection.execute(select(teams.c.name).where(teams.c.name == team)).first() is None:
            raise UsageError(f"there is no team {team[:40]!r}")
        return team, ALL_PROGRAMS, ""
    row = connection.execute(select(records.c.team, records.c.program).where(records.c.id == record)).first()
    if row is None:
        raise UsageError(f"there is no record {record[:40]!r}")
    if not row.program:  # which would be all of the team's
        raise UsageError(f"record {record} is of no program that could be told from others: name its team instead")
    return row.team, row.program, record


def _judge_again(connection: Connection, team: str, program: str) -> int:
    """Give a team's records of a program, or all of them, the standing that they have by now; return how many changed.

    Boards are locked in one order, so that two rulings at a time never wait for each other.
    """
    mine = [records.c.team == team, *([records.c.program == program] if program else [])]
    place = (records.c.problem, records.c.target, records.c.division)
    changed = 0
    for key in sorted({tuple(row) for row in connection.execute(select(*place).where(*mine).distinct())}):
        board = BoardKey(*key)
        lock_board(connection, board)
        changed += _judge_board_again(connection, board, team, mine)
    return changed


def _judge_board_again(connection: Connection, board: BoardKey, team: str, mine: list[ColumnElement[bool]]) -> int:
    touched, changed = set(), 0
    columns = (records.c.id, records.c.setting, records.c.program, records.c.standing, records.c.document)
    for row in list(connection.execute(select(*columns).where(board.rows(records), *mine))):
        standing = standing_of(decode_record(row.document))
        out = standing != "none" and find_ruling(connection, team, row.program) is not None
        standing = DISQUALIFIED if out else standing
        if standing != row.standing:
            connection.execute(update(records).where(records.c.id == row.id).values(standing=standing))
            touched.add((row.setting, row.program))
            changed += 1
    for setting in sorted({setting for setting, _ in touched}):
        refresh_programs(connection, board, setting, team, [name for other, name in touched if other == setting])
        refresh_unranked(connection, board, setting, team)
        refresh_milestones(connection, board, setting)
    if changed:
        refresh_setting(connection, board)
    return changed


def _details(team: str, program: str) -> dict[str, str]:
    return {"team": team, "program": program} if program else {"team": team}
