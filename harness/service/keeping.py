"""Whole boards, kept in memory by their versions, which rise in the transaction of whatever changes a board.

So a page over many boards (standings, a team) costs one query, and no record is decoded twice. Frozen values are kept:
whoever has one cannot change another's. Counts over everything, which no version tells of, may be some seconds old.
"""

from __future__ import annotations

import threading
import time

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from harness.board.places import Board
from harness.service.entries import BoardKey
from harness.service.logs import warn
from harness.service.reading import count_records, load_board
from harness.service.rules import Rules
from harness.service.schema import boards
from harness.site.views import BoardCard
from harness.store.schema import records

COUNTS_AGE_S = 5.0
COUNTS_SHARE = 100
"""Counts are at least as old as this many times what counting takes."""


class Boards:
    """Whole boards, each loaded once for every version of it."""

    def __init__(self) -> None:
        self._kept: dict[BoardKey, tuple[tuple[int, str | None], Board]] = {}
        self._counts: tuple[int, int] | None = None
        self._count_again_s = 0.0
        self._counting = threading.Lock()

    def load(self, connection: Connection, rules: Rules, key: BoardKey) -> Board:
        """Return a board as it is now."""
        version = connection.execute(select(boards.c.version).where(key.rows(boards))).scalar() or 0
        return self._load(connection, rules, key, version)

    def load_all(self, connection: Connection, rules: Rules) -> list[Board]:
        """Return every board that something stands on, in the season's order of problems."""
        columns = (boards.c.problem, boards.c.target, boards.c.division, boards.c.version)
        rows = connection.execute(select(*columns)).all()
        order = {name: i for i, name in enumerate(rules.problems)}
        ordered = sorted(rows, key=lambda row: (order.get(row.problem, len(order)), *row[:3]))
        return [self._load(connection, rules, BoardKey(*row[:3]), row.version) for row in ordered]

    def cards(self, connection: Connection, rules: Rules) -> tuple[BoardCard, ...]:
        """Return a card of every board, and of those that only wrong submissions were made for."""
        found = [BoardCard.of(board) for board in self.load_all(connection, rules)]
        empty = set(rules.problems) - {card.problem for card in found}
        names = (records.c.problem, records.c.target, records.c.division)
        counts = select(*names, func.count()).where(records.c.problem.in_(sorted(empty))).group_by(*names)
        failed = sorted(connection.execute(counts).all()) if empty else []
        return (*found, *(BoardCard(row[0], row[1], row[2], failed=row[3]) for row in failed))

    def count(self, connection: Connection) -> tuple[int, int]:
        """Return how many submissions are done, and of how many teams: as of the last few seconds.

        Only who asks before there is an answer waits for it: it takes a look at every submission.
        """
        if self._counts is None:
            self._count(connection)
        elif time.monotonic() > self._count_again_s and self._counting.acquire(blocking=False):
            threading.Thread(target=self._count_again, args=(connection.engine,), daemon=True).start()
        assert self._counts is not None
        return self._counts

    def _count_again(self, engine: Engine) -> None:
        try:
            with engine.connect() as connection:
                self._count(connection)
        except SQLAlchemyError as error:  # the counts stay as they are
            warn("counting failed", error=error)
            self._count_again_s = time.monotonic() + COUNTS_AGE_S
        finally:
            self._counting.release()

    def _count(self, connection: Connection) -> None:
        started_s = time.monotonic()
        self._counts = count_records(connection)
        took_s = time.monotonic() - started_s
        self._count_again_s = time.monotonic() + max(COUNTS_AGE_S, COUNTS_SHARE * took_s)

    def _load(self, connection: Connection, rules: Rules, key: BoardKey, version: int) -> Board:
        problem = rules.problems.get(key.problem)
        stamp = (version, problem.version if problem else None)
        kept = self._kept.get(key)
        if kept is None or kept[0] != stamp:
            # The version was read before the board, in one transaction: what is kept is never newer than its stamp.
            kept = self._kept[key] = (stamp, load_board(connection, key, stamp[1]))
        return kept[1]
