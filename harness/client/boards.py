"""What everybody may read of a service: its season, boards, standings and queue."""

from __future__ import annotations

import re
from typing import Any

from harness.client.answers import BoardAnswer, Season, Standing, State, read, read_list
from harness.client.connection import Connection
from harness.client.errors import AnswerError
from harness.errors import UsageError

MAX_QUEUE = 1000

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def fetch_season(connection: Connection) -> Season:
    """Return the season that runs."""
    season = read(Season, connection.get("/season", tries=2))
    names = (*season.problems, *season.targets, *season.divisions)
    if not season.targets or not season.divisions or not all(_NAME.fullmatch(name) for name in names):
        raise AnswerError(f"{connection.address.name} describes no season")
    return season


def fetch_board(connection: Connection, problem: str, target: str, division: str) -> tuple[BoardAnswer, Any]:
    """Return a board, and the document that it was read from."""
    document = connection.get(f"/boards/{problem}/{target}/{division}")
    return read(BoardAnswer, document), document


def fetch_boards(
    connection: Connection, season: Season, problem: str | None, target: str | None, division: str
) -> list[tuple[BoardAnswer, Any]]:
    """Return the boards of a season, or of one problem of it.

    Args:
        connection: to the service.
        season: its season.
        problem: None for every one.
        target: None for the first on which something is ranked.
        division: whose rules.

    Raises:
        UsageError: the season has no such problem or target.
    """
    for what, name, known in (("problem", problem, season.problems), ("target", target, season.targets)):
        if name is not None and name not in known:
            raise UsageError(f"the season at {connection.address.name} has no {what} {name!r}: {', '.join(known)}")
    problems = [problem] if problem else list(season.problems)
    boards: list[tuple[BoardAnswer, Any]] = []
    for name in [target] if target else season.targets:
        found = [fetch_board(connection, item, name, division) for item in problems]
        boards = boards or found
        if any(board.ranked for board, _ in found):
            return found
    return boards


def fetch_standings(connection: Connection, target: str, division: str) -> tuple[tuple[Standing, ...], Any]:
    """Return the overall standings, and the document that they were read from."""
    document = connection.get(f"/standings/{target}/{division}")
    return read_list(Standing, document), document


def fetch_queue(connection: Connection, *, tries: int = 5) -> tuple[tuple[State, ...], Any]:
    """Return what is under way and what waits, and the document that it was read from."""
    document = connection.get("/queue", tries=tries, limit=MAX_QUEUE)
    return read_list(State, document), document
