"""Taking a submission: when, from whom, how many, and the same one twice."""

from __future__ import annotations

import re
import threading
from datetime import datetime, timezone

import pytest
from sqlalchemy import func, insert, select

from harness.errors import UsageError
from harness.service.accepting import accept
from harness.service.acts import log_act
from harness.service.errors import RefusedError
from harness.service.job import QUEUED, load_job
from harness.service.rules import Rules, change_season, tell_changes
from harness.service.schema import frozen, jobs, sources
from harness.service.settings import Limits
from harness.store.database import Database
from tests.service.event import LIMITS, START_S, finish, join, lease, received, rules_now, submit


def refused(database, **given):
    with pytest.raises(RefusedError) as caught:
        submit(database, **given)
    return caught.value


def during(database, **changes):
    """The rules with other times: an hour after the start, say."""
    with database.read() as connection:
        rules = rules_now(connection)
    moments = {
        name: datetime.fromtimestamp(START_S + 3600 * hour, timezone.utc) if isinstance(hour, (int, float)) else hour
        for name, hour in changes.items()
    }
    return Rules(rules.season.model_copy(update=moments), rules.problems)


def test_what_is_taken_waits_and_is_whole(database):
    join(database, "acme")
    asked = received(target="h200")
    job = submit(database, asked=asked)
    assert (job.state, job.team, job.target, job.division, job.attempt) == (QUEUED, "acme", "h200", "closed", 0)
    with database.read() as connection:
        assert load_job(connection, job.id) == job
        assert job.problem_version == rules_now(connection).problems["scale"].version
    assert job.source_sha256 == asked.submission("acme").sha256


def test_an_alias_names_the_problem(database):
    join(database, "acme")
    assert submit(database, problem="scale_py").problem == "scale"


def test_the_same_request_again_is_the_same_submission(database):
    join(database, "acme", "bolt")
    asked = received()
    first = submit(database, asked=asked, key="once-and-only")
    closed = during(database, closes=0)
    assert submit(database, asked=asked, key="once-and-only").id == first.id
    assert submit(database, asked=asked, key="once-and-only", rules=closed).id == first.id, "a late retry, too"
    error = refused(database, key="once-and-only")
    assert (error.status, error.kind) == (422, "idempotency-key-reused")
    assert submit(database, "bolt", asked=asked, key="once-and-only").id != first.id, "a key is its team's own"
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(sources)).scalar() == 1, "kept once"


@pytest.mark.parametrize("key", ["", "short", "with space", "x" * 80, "a;drop table"])
def test_a_key_has_a_form(database, key):
    join(database, "acme")
    with database.write() as connection, pytest.raises(RefusedError, match="send an `Idempotency-Key` of 8") as caught:
        accept(connection, "acme", received(), key, rules_now(connection), LIMITS, START_S)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("given", "status", "kind", "message"),
    [
        ({"problem": "softmax"}, 422, "unknown-problem", "the season has no problem 'softmax': it has scale"),
        ({"target": "h100"}, 422, "unknown-target", "the season has no target 'h100': it has b200, h200"),
        ({"division": "open"}, 422, "unknown-division", "the season has no division 'open': it has closed"),
        ({"suite": "mamba"}, 422, "unknown-suite", "the season has no suite 'mamba': it has default"),
        ({"problem_version": "000"}, 409, "problem-version", "the server has version .* of scale, you have 000"),
    ],
)
def test_what_the_season_does_not_have(database, given, status, kind, message):
    join(database, "acme")
    error = refused(database, **given)
    assert (error.status, error.kind) == (status, kind)
    with pytest.raises(RefusedError, match=message):
        raise error
    if status == 409:
        with database.read() as connection:
            assert error.facts == {"server_version": rules_now(connection).problems["scale"].version}


def test_a_season_opens_and_closes_to_the_second(database):
    join(database, "acme")
    rules = during(database, opens=0, closes=1)
    for now_s, kind in ((START_S - 0.001, "season-not-open"), (START_S + 3600, "season-closed")):
        error = refused(database, rules=rules, now_s=now_s)
        assert (error.status, error.kind) == (403, kind)
        assert "2027-01-15 0" in str(error)
    for now_s in (START_S, START_S + 3599.999):
        submit(database, rules=rules, now_s=now_s)


def test_organisers_move_the_deadline(database):
    join(database, "acme")
    with database.write() as connection:
        season = rules_now(connection).season
        change_season(connection, season, {"closes": "2027-01-15T08:00Z"}, "ada", "a power cut", START_S)
        assert rules_now(connection).season.closes == datetime(2027, 1, 15, 8, tzinfo=timezone.utc)
    assert refused(database, now_s=START_S).kind == "season-closed"
    with database.write() as connection:
        season = rules_now(connection).season
        change_season(connection, season, {"closes": None, "code_visible": "never"}, "ada", "for ever", START_S)
        assert rules_now(connection).season.code_visible == "never"
    submit(database)


@pytest.mark.parametrize(
    ("opens", "closes", "phase"),
    [
        (None, "9999-12-31T00:00:00+00:00", "open"),
        (None, "9999-12-31T23:59:59-12:00", "open"),
        ("0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00", "closed"),
        ("9999-01-01T00:00:00+00:00", None, "before"),
    ],
)
def test_times_that_an_earlier_version_took_are_read_and_mended(database, opens, closes, phase):
    with database.write() as connection:
        name = rules_now(connection).season.name
        details = {"opens": opens, "closes": closes, "code_visible": "never"}
        log_act(connection, "ada", "season", name, "as it was allowed", now_s=START_S, details=details)
    with database.write() as connection:
        rules = rules_now(connection)
        assert (rules.phase(START_S), rules.season.code_visible) == (phase, "never")
        change_season(connection, rules.season, {"opens": "now", "closes": None}, "ada", "mended", START_S)
        assert tell_changes(details).startswith("opens ")
        assert "code visible never" in tell_changes(details)
        rules = rules_now(connection)
        assert rules.season.opens == datetime.fromtimestamp(START_S, timezone.utc)
        assert (rules.phase(START_S), rules.season.closes, rules.season.code_visible) == ("open", None, "never")


@pytest.mark.parametrize("time", ["9999-12-31T00:00Z", "1970-01-01"])
def test_a_season_has_years_of_its_own(database, time):
    told = f"'{time}': a season is between 1971 and 9998: use never where it has no end"
    with database.write() as connection, pytest.raises(UsageError, match=f"^{re.escape(told)}$"):
        change_season(connection, rules_now(connection).season, {"closes": time}, "ada", "x", START_S)


def test_a_frozen_problem_says_why(database):
    join(database, "acme")
    with database.write() as connection:
        connection.execute(insert(frozen).values(problem="scale", reason="its reference is wrong", act=1))
    error = refused(database)
    assert (error.status, error.kind) == (403, "frozen")
    assert "its reference is wrong" in str(error)


def test_so_many_at_a_time(database):
    join(database, "acme", "bolt")
    limits = Limits(pending=2, per_hour=100)
    submit(database, limits=limits)
    submit(database, limits=limits)
    error = refused(database, limits=limits)
    assert (error.status, error.kind, error.retry_after_s) == (429, "too-many-pending", 60)
    submit(database, "bolt", limits=limits, now_s=START_S + 1)
    held = lease(database, now_s=START_S + 2)
    assert held.job.team == "acme"
    assert finish(database, held, now_s=START_S + 2)
    submit(database, limits=limits)


def test_so_many_in_an_hour(database):
    join(database, "acme")
    limits = Limits(pending=100, per_hour=2)
    submit(database, limits=limits, now_s=START_S)
    submit(database, limits=limits, now_s=START_S + 600)
    error = refused(database, limits=limits, now_s=START_S + 1200)
    assert (error.status, error.kind, error.retry_after_s) == (429, "rate-limit", 2400)
    assert "2 submissions in the last hour; 2 are allowed: again in 40 minutes" in str(error)
    submit(database, limits=limits, now_s=START_S + 3601)


def test_requests_at_the_same_time_do_not_slip_past_the_limit(database, database_url):
    join(database, "acme")
    limits, taken, broken = Limits(pending=3, per_hour=100), [], []
    rules = during(database)

    def post(number):
        own = Database(database_url, 15.0)
        try:
            taken.append(submit(own, limits=limits, rules=rules, key=f"parallel-{number}"))
        except RefusedError as error:
            broken.append(error.kind)
        finally:
            own.close()

    threads = [threading.Thread(target=post, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 3
    assert broken == ["too-many-pending"] * 5
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(jobs)).scalar() == 3


def test_one_key_at_the_same_time_is_one_submission(database, database_url):
    join(database, "acme")
    rules, asked, made = during(database), received(), []

    def post():
        own = Database(database_url, 15.0)
        try:
            made.append(submit(own, asked=asked, rules=rules, key="the-same-key").id)
        finally:
            own.close()

    threads = [threading.Thread(target=post) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    assert len(set(made)) == 1
