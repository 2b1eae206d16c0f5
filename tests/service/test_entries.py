"""Boards that are kept up to date equal boards that are ranked from all records, whatever happens in between."""

from __future__ import annotations

import dataclasses
import random

import pytest
from sqlalchemy import select

from harness.board.pooling import pool_runs
from harness.board.ranking import rank
from harness.service.entries import BoardKey, condense, refresh_milestones
from harness.service.job import load_job
from harness.service.reading import (
    board_version,
    list_boards,
    list_leaders,
    list_records,
    load_board,
    load_record,
    load_unverified,
)
from harness.service.results import store_record
from harness.store.record import decode_record
from harness.store.schema import records
from harness.target import load_target
from tests.store.samples import checked, incorrect, passed

KEY = BoardKey("chunk_fwd_h", "b200", "closed")


def with_samples(record, chance):
    """The record with samples of its own, so that pooling has something to pool."""
    cases = []
    for case in record.cases:
        if case.timing is not None:
            spans = tuple(case.timing.time_us * chance.uniform(0.97, 1.03) for _ in range(5))
            case = dataclasses.replace(case, timing=dataclasses.replace(case.timing, spans_us=spans))
        cases.append(case)
    return dataclasses.replace(record, cases=tuple(cases))


def season(seed, count=45):
    """Records of five teams in a random order: ranked, unranked and failed, of two versions, some programs repeated."""
    chance = random.Random(seed)
    made = []
    for minute in range(count):
        team = chance.choice(["acme", "bolt", "core", "dusk", "echo"])
        program = chance.choice([f"{team}-{n}" for n in range(3)] + ["shared"])
        changes = {"normalised_source_sha256": program, "problem_version": "1" if minute < count / 3 else "2"}
        kind = chance.random()
        if kind < 0.65:
            score_us = {"shared": 20.0}.get(program, 15 + 5 * chance.random())
            made.append(with_samples(passed(team, score_us, minute, **changes), chance))
        else:
            made.append((checked if kind < 0.85 else incorrect)(team, minute, **changes))
    return made


def store(database, *made):
    for record in made:
        with database.write() as connection:
            store_record(connection, record)


def bare(board):
    """A board without what entries leave out of a record."""

    def strip(item):
        record = dataclasses.replace(condense(item.record), score_us=round(item.record.score_us or 0, 6))
        return dataclasses.replace(item, record=record)

    return dataclasses.replace(
        board, entries=tuple(map(strip, board.entries)), unranked=tuple(map(strip, board.unranked)), elsewhere=()
    )


def recomputed(made):
    gpu = load_target(KEY.target)
    return rank(made, *vars(KEY).values(), noise=gpu.ranking_noise, noise_assumed=gpu.noise is None)


@pytest.mark.parametrize("seed", range(2))
def test_a_board_equals_its_recomputation_from_all_records(database, seed):
    made = season(seed)
    arriving = made[:]
    random.Random(seed).shuffle(arriving)  # what is submitted first need not finish first
    store(database, *arriving)
    with database.read() as connection:
        board = load_board(connection, KEY)
        stored = [decode_record(document) for document in connection.scalars(select(records.c.document))]
    expected = recomputed(stored)
    assert bare(board) == bare(expected)
    assert len(board.entries) > 2
    assert {apart.record.team for apart in board.elsewhere} == {apart.record.team for apart in expected.elsewhere}
    assert {apart.why for apart in board.elsewhere} == {apart.why for apart in expected.elsewhere}


@pytest.mark.parametrize("seed", [5])
def test_the_record_over_time_is_that_of_all_records_in_any_order(database, seed):
    made = season(seed)
    arriving = made[:]
    random.Random(seed + 10).shuffle(arriving)
    store(database, *arriving)
    with database.read() as connection:
        setting = load_board(connection, KEY).setting
        found = list_leaders(connection, KEY, setting)
    best, expected = None, []
    for record in made:
        if record.scored and record.setting == setting and (best is None or record.score_us < best):
            best = record.score_us
            expected.append((record.id, record.team, record.score_us))
    assert [(r.id, r.team, r.score_us) for r in found] == expected
    assert all(record.scored for record in found)
    with database.write() as connection:
        refresh_milestones(connection, KEY, setting.key)
        again = list_leaders(connection, KEY, setting)
    assert again == found


def test_a_second_run_of_the_leader_may_cost_the_lead(database):
    chance = random.Random(1)
    lucky = with_samples(passed("acme", 10.0, 1, normalised_source_sha256="lucky"), chance)
    other = with_samples(passed("acme", 11.0, 2, normalised_source_sha256="other"), chance)
    again = with_samples(passed("acme", 14.0, 3, normalised_source_sha256="lucky"), chance)
    store(database, lucky, other)
    with database.read() as connection:
        assert load_board(connection, KEY).entries[0].record.id == lucky.id
    store(database, again)
    pooled = pool_runs([lucky, again])[0]
    assert pooled.score_us > 11.5
    with database.read() as connection:
        (entry,) = load_board(connection, KEY).entries
    assert (entry.record.id, entry.runs) == (other.id, 1)


def test_a_board_that_was_read_before_shows_what_came_since(database):
    store(database, passed("acme", 10.0, 1), passed("bolt", 20.0, 2))
    with database.read() as connection:
        assert [e.record.team for e in load_board(connection, KEY).entries] == ["acme", "bolt"]
    store(database, passed("bolt", 5.0, 3))
    with database.read() as connection:
        assert [(e.record.team, e.score_us) for e in load_board(connection, KEY).entries] == [("bolt", 5), ("acme", 10)]
        assert load_board(connection, KEY) == load_board(connection, KEY)


def test_what_no_board_shows_changes_no_board(database):
    store(database, incorrect())
    with database.read() as connection:
        assert list_boards(connection) == []
        assert load_board(connection, KEY).entries == ()
        assert board_version(connection, KEY) == 0
    store(database, passed("acme", 10.0))
    with database.read() as connection:
        assert (list_boards(connection), board_version(connection, KEY)) == ([KEY], 1)


def test_lists_show_what_the_columns_say(database):
    made = [passed("acme", 10.0, 1), incorrect("bolt", 2), checked("acme", 3)]
    store(database, *made)
    with database.read() as connection:
        found = list_records(connection)
        assert [(r.id, r.kind, r.scored, r.score_us) for r in found] == [
            (r.id, r.kind, r.scored, r.score_us) for r in reversed(made)
        ]
        assert [r.id for r in list_records(connection, team="acme", limit=1)] == [made[2].id]
        assert [r.id for r in list_records(connection, team="acme", before=made[2].id)] == [made[0].id]


def test_no_name_holds_a_nul(database):
    with database.read() as connection:
        assert load_record(connection, "\0", with_code=True) is None
        assert load_unverified(connection, "\0") is None
        assert load_job(connection, "\0") is None


def test_code_is_shown_to_whom_it_belongs(database):
    store(database, incorrect(id="hidden"))
    with database.read() as connection:
        assert load_record(connection, "hidden", with_code=True).verdict.traceback[0].text
        assert not load_record(connection, "hidden", with_code=False).verdict.traceback[0].text
        assert load_record(connection, "other", with_code=False) is None
