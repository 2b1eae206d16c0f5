"""What is kept between pages: boards by their versions, counts for some seconds."""

from __future__ import annotations

import math
import time

from harness.service.keeping import Boards
from tests.service.event import finish, join, lease, rules_now, submit

ENOUGH_S = 120.0


def test_counts_are_made_anew_beside_the_pages(database):
    join(database, "acme", "bolt")
    boards = Boards()
    with database.read() as connection:
        assert boards.count(connection) == (0, 0)
    boards._count_again_s = math.inf  # however long the following takes
    for team in ("acme", "acme", "bolt"):
        submit(database, team)
        assert finish(database, lease(database))
    with database.read() as connection:
        assert boards.count(connection) == (0, 0), "of a moment ago"
        boards._count_again_s = 0.0
        deadline = time.monotonic() + ENOUGH_S
        while boards.count(connection) != (3, 2):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_a_board_is_loaded_once_for_each_version(database):
    join(database, "acme")
    boards = Boards()

    def load():
        with database.read() as connection:
            (board,) = boards.load_all(connection, rules_now(connection))
            return board

    submit(database)
    assert finish(database, lease(database))
    first = load()
    assert load() is first
    submit(database)
    assert finish(database, lease(database))
    assert load() is not first
