"""Submissions taken in together: each is answered as if it were alone, and nobody waits for another's trouble."""

from __future__ import annotations

import dataclasses
import time
from datetime import datetime, timezone

import pytest
from sqlalchemy import func, select, update

from harness.errors import StoreError
from harness.service import intake as module
from harness.service.accepting import Asked
from harness.service.errors import RefusedError
from harness.service.intake import Intake
from harness.service.rules import RulesFile, change_season
from harness.service.schema import jobs, tokens
from harness.service.settings import Limits
from harness.service.teams import hold_team, issue_token, revoke_token
from harness.service.waiting import Watch, observe, wait_of
from harness.store.database import Database
from tests.service.event import LIMITS, START_S, WORKSPACE, join, received, rules_now

ENOUGH_S = 120.0
TOKEN = "no-fault-found"


@pytest.fixture
def opened(database):
    """Make intakes; what they have not taken at the end is taken then."""
    made = []

    def make(limits=LIMITS, own=database, clock=time.time):
        made.append(Intake(own, RulesFile(WORKSPACE), limits, Watch(), clock))
        return made[-1]

    yield make
    for intake in made:
        intake.close()


def asked(team="acme", key="first-key", **changes):
    return dataclasses.replace(Asked.of(team, received(f"{team} {key}"), key, time.time()), **changes)


def count_jobs(database):
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(jobs)).scalar()


def take_together(intake, requests):
    """Let all of them come while the thread has something else to do."""
    with intake._changed:  # it cannot look at what waits
        return [intake.take(request, TOKEN) for request in requests]


def test_what_comes_together_is_answered_one_by_one(database, opened):
    join(database, "acme", "bolt")
    intake = opened(Limits(pending=3, per_hour=100))
    keys = [("acme", "a-key-0001"), ("bolt", "b-key-0001"), ("acme", "a-key-0002"), ("bolt", "b-key-0001")]
    keys += [("acme", "a-key-0003"), ("acme", "a-key-0004"), ("bolt", "b-key-0002")]
    taken = take_together(intake, [asked(*key) for key in keys])
    refused = taken.pop(5).exception(ENOUGH_S)
    assert (refused.status, refused.kind) == (429, "too-many-pending")
    found = [future.result(ENOUGH_S) for future in taken]
    assert [(one.new, one.nth) for one in found] == [(True, 1), (True, 1), (True, 2), (False, 0), (True, 3), (True, 2)]
    assert found[3].job == found[1].job, "one key is one submission"
    assert count_jobs(database) == 5
    with database.read() as connection:
        now_s, watch = time.time(), Watch()
        watch.refresh(connection, now_s)
        for one in found:
            if one.new:
                assert watch.wait_of_new(one.job, one.nth) == wait_of(
                    connection, one.job, observe(connection, now_s), now_s
                )


def test_what_is_taken_later_counts_what_was_taken_before(database, opened):
    join(database, "acme")
    intake = opened(Limits(pending=100, per_hour=2))
    assert [intake.take(asked(key=f"key-{i:05}"), TOKEN).result(ENOUGH_S).nth for i in range(2)] == [1, 2]
    refused = intake.take(asked(key="key-00002"), TOKEN).exception(ENOUGH_S)
    assert (refused.status, refused.kind) == (429, "rate-limit")
    assert intake.take(asked(key="key-00001"), TOKEN).result(ENOUGH_S).new is False


def test_a_team_that_is_held_waits_alone(cluster, postgresql_template, opened):
    database = Database(cluster.url(cluster.make_database(postgresql_template)), 15.0)
    join(database, "acme", "bolt")
    intake = opened(own=database)
    with database.write() as connection:
        hold_team(connection, "acme")
        held, free = take_together(intake, [asked("acme"), asked("bolt")])
        assert free.result(ENOUGH_S).new
        assert not held.done()
    assert held.result(ENOUGH_S).new
    intake.close()
    database.close()


def test_however_much_a_held_team_has_sent_others_do_not_wait_for_it(cluster, postgresql_template, opened, monkeypatch):
    monkeypatch.setattr(module, "HELD_S", ENOUGH_S)
    monkeypatch.setattr(module, "MOST", 3)
    database = Database(cluster.url(cluster.make_database(postgresql_template)), 15.0)
    join(database, "acme", "bolt")
    intake = opened(own=database)
    with database.write() as connection:
        hold_team(connection, "acme")
        held = take_together(intake, [asked("acme", f"key-{i:05}") for i in range(7)])
        for i in range(5):
            assert intake.take(asked("bolt", f"key-{i:05}"), TOKEN).result(ENOUGH_S).new
        assert not any(future.done() for future in held)
    assert [future.result(ENOUGH_S).nth for future in held] == [1, 2, 3, 4, 5, 6, 7], "in the order in which they came"
    intake.close()
    database.close()


def test_what_came_before_the_close_is_taken_after_it(database, opened):
    join(database, "acme")
    closes_s = START_S + 3600
    with database.write() as connection:
        told = datetime.fromtimestamp(closes_s, timezone.utc).isoformat()
        change_season(connection, rules_now(connection).season, {"closes": told}, "ada", "the end", START_S)
    intake = opened(clock=lambda: closes_s + 10)
    taken = intake.take(asked(key="in-time-key", came_s=closes_s - 0.001), TOKEN).result(ENOUGH_S)
    assert (taken.job.submitted_s, taken.job.queued_s) == (closes_s - 0.001, closes_s + 10)
    late = intake.take(asked(key="late-late-key", came_s=closes_s), TOKEN).exception(ENOUGH_S)
    assert (late.status, late.kind) == (403, "season-closed")


def test_a_fault_of_ours_ends_what_it_met_and_not_the_thread(database, opened):
    join(database, "acme")
    intake = opened()

    def fail(*_):
        del intake._tell_all
        raise RuntimeError("a fault of ours")

    intake._tell_all = fail
    with pytest.raises(RuntimeError, match="a fault of ours"):
        intake.take(asked(), TOKEN).result(ENOUGH_S)
    assert intake.take(asked(key="second-key"), TOKEN).result(ENOUGH_S).new
    assert intake.works
    intake.close()
    assert not intake.works


def test_a_team_is_not_held_for_ever(cluster, postgresql_template, opened, monkeypatch):
    monkeypatch.setattr(module, "HELD_S", 0.05)
    database = Database(cluster.url(cluster.make_database(postgresql_template)), 15.0)
    join(database, "acme")
    intake = opened(own=database)
    with database.write() as connection:
        hold_team(connection, "acme")
        error = intake.take(asked(), TOKEN).exception(ENOUGH_S)
    assert isinstance(error, RefusedError)
    assert (error.status, error.kind, error.retry_after_s) == (503, "busy", 0.05)
    assert str(error) == "your team's submissions are being worked on: try again"
    intake.close()
    database.close()


def test_what_cannot_be_stored_spoils_nothing(database, opened):
    join(database, "acme", "bolt")
    broken = asked("acme", "broken-key", packed=None)
    taken = take_together(opened(), [asked("acme"), broken, asked("bolt")])
    assert isinstance(taken[1].exception(ENOUGH_S), StoreError)
    assert taken[0].result(ENOUGH_S).new
    assert taken[2].result(ENOUGH_S).new
    assert count_jobs(database) == 2


def test_a_database_that_is_away_is_told_to_everybody(database, opened, tmp_path):
    away = Database(f"postgresql+psycopg://postgres@/none?host={tmp_path}", 1.0)
    intake = opened(own=away)
    for _ in range(2):  # the thread goes on
        for future in take_together(intake, [asked("acme"), asked("bolt")]):
            with pytest.raises(StoreError, match="cannot be reached"):
                future.result(ENOUGH_S)


def test_what_waits_at_the_end_is_taken(database):
    join(database, "acme")
    intake = Intake(database, RulesFile(WORKSPACE), LIMITS, Watch())
    taken = take_together(intake, [asked(key=f"key-{i:05}") for i in range(5)])
    intake.close()
    assert all(future.result(0).new for future in taken)
    with pytest.raises(RefusedError, match="the service is being restarted: try again"):
        intake.take(asked(), TOKEN)
    Intake(database, RulesFile(WORKSPACE), LIMITS, Watch()).close()  # one that was never used ends, too


def test_who_stops_listening_stops_nothing(database, opened):
    join(database, "acme")
    taken = opened().take(asked(), TOKEN)
    assert not taken.cancel()
    assert taken.result(ENOUGH_S).new


def test_a_token_must_be_valid_when_its_submission_is_taken(database, opened):
    join(database, "acme", "bolt")
    now_s = time.time()
    with database.write() as connection:
        revoked, expired, valid = (issue_token(connection, team="acme", now_s=now_s - 9, days=1)[0] for _ in range(3))
        revoke_token(connection, revoked, now_s)
        connection.execute(update(tokens).where(tokens.c.id == expired).values(expires_s=now_s - 1))
    intake = opened()
    with intake._changed:
        names = (revoked, valid, expired, revoked)
        taken = [intake.take(asked(key=f"key-{i:05}"), name) for i, name in enumerate(names)]
    kinds = [taken[i].exception(ENOUGH_S).kind for i in (0, 2, 3)]
    assert kinds == ["token-revoked", "token-expired", "token-revoked"]
    assert taken[1].result(ENOUGH_S).new
    assert count_jobs(database) == 1
