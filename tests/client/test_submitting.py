"""A submission's way through a real service: sent once, however often that takes, followed, and read."""

from __future__ import annotations

import dataclasses

import pytest

from harness.client.answers import Progress
from harness.client.errors import AnswerError, RefusalError, UnavailableError
from harness.client.narrating import Narrator
from harness.client.pending import Pending, PendingFolder, new_key
from harness.client.submitting import (
    LEAST_POLL_S,
    MOST_POLL_S,
    fetch_previous,
    fetch_record,
    find_team,
    follow,
    pack,
    post_record,
    send,
)
from harness.errors import UsageError
from harness.service.queue import renew_lease
from harness.store.record import encode_record
from harness.submission import load_submission
from tests.client.canned import Forgetful
from tests.service.event import LIMITS, WORKSPACE, finish, lease, outcome
from tests.store.samples import passed

SCALE = WORKSPACE / "submissions" / "starter" / "scale" / "submission.py"


def pending(live, key=None, **named):
    document = pack(load_submission(SCALE, "acme"), **{"problem": "scale", **named})
    return Pending(key or new_key(), live.url, "scale", document=document)


def conclude(live, score_us=None):
    now_s = live.service.now_s()
    held = lease(live.database, now_s=now_s)
    assert finish(live.database, held, outcome(held.job, score_us), now_s=now_s)
    return held.job.id


def ignore(*_):
    pass


def test_whose_token_it_is(connect, live):
    assert find_team(connect(), None) == find_team(connect(), "acme") == "acme"
    with pytest.raises(UsageError, match="the token of a test is of team acme, and you ask for bolt: leave --team out"):
        find_team(connect(), "bolt")
    with pytest.raises(UsageError, match="the token of a test is an organiser's, who submits nothing"):
        find_team(connect(live.ada), None)


def test_a_submission_is_followed_to_its_record(connect, live):
    """Somebody builds it while its team waits: what is told is the queue, the stage with its progress, the end."""
    waits, held = [], []

    def work(wait_s):
        waits.append(wait_s)
        now_s = live.service.now_s()
        if len(waits) == 2:
            held.append(lease(live.database, now_s=now_s))
            progress = {"stage": "trace", "text": "B1", "done": 1, "total": 7}
            with live.database.write() as connection:
                renew_lease(connection, held[0], LIMITS, now_s, progress)
        if len(waits) == 4:
            assert finish(live.database, held[0], outcome(held[0].job, 12.5), now_s=now_s)

    connection = connect(sleep=work)
    state = send(connection, pending(live))
    states, events = [], []
    done = follow(connection, state, states.append, ignore)
    narrator = Narrator(events.append)
    for state in states:
        narrator.watch(state)
    assert [s.state for s in states] == ["queued", "queued", "running", "running", "done"]
    assert states[2].progress == Progress("trace", "B1", 1, 7)
    assert [(e.stage, e.state, e.text, e.done, e.total) for e in events] == [
        ("queue", "advance", "next for a build", 0, 0),
        ("queue", "end", "its turn came", 0, 0),
        ("trace", "advance", "B1", 1, 7),
        ("trace", "end", "done", 7, 7),
    ]
    assert waits[1] > waits[0] >= LEAST_POLL_S
    assert (done.verdict, fetch_record(connection, done.id).score_us) == ("PASSED", 12.5)


def test_asking_slows_down_and_never_stops(connect, live):
    waits = []

    def work(wait_s):
        waits.append(wait_s)
        if len(waits) == 12:
            conclude(live)

    connection = connect(sleep=work)
    follow(connection, send(connection, pending(live)), ignore, ignore)
    assert waits == sorted(waits)
    assert waits[-1] == MOST_POLL_S


def test_a_submission_whose_answer_was_lost_is_sent_again_and_there_once(connect, live):
    forgetful = Forgetful(live.port, losing=2)
    try:
        connection = connect(url=forgetful.url)
        sent = pending(live)
        state = send(connection, sent)
        assert send(connection, sent).id == state.id
    finally:
        forgetful.stop()
    assert [job["id"] for job in live.get("/api/v1/queue").json()] == [state.id]


def test_a_service_that_is_away_for_a_while_is_waited_for(connect, live, canned):
    canned.refuse(503, "closing", "it is being restarted")
    canned.answer({}, 502)
    state = send(connect(), pending(live))
    done = dataclasses.asdict(state) | {"state": "done", "verdict": "PASSED"}
    canned.answer(done)
    told = []
    assert follow(connect(url=canned.url), state, ignore, told.append).verdict == "PASSED"
    assert len(told) == 2
    assert "it is being restarted" in told[0]


def test_a_service_that_stays_away_is_not_waited_for_for_ever(connect, live, canned):
    canned.refuse(503, "closing", "it is being restarted")
    state = send(connect(), pending(live))
    with pytest.raises(UnavailableError, match="it is being restarted"):
        follow(connect(url=canned.url), state, ignore, ignore, patience_s=0.0)


def test_a_record_that_is_another_one_is_not_taken(connect, canned):
    canned.answer(encode_record(passed("acme", 5.0)))
    with pytest.raises(AnswerError, match="answers with another record than 00000000000000"):
        fetch_record(connect(url=canned.url), "0" * 14)


@pytest.mark.parametrize("changes", [{"verdict": None}, {"state": 3}, {"format": 3}, {"cases": [{"case_id": 1}]}])
def test_what_is_no_record_is_refused(connect, canned, changes):
    canned.answer({**encode_record(passed("acme", 5.0)), **changes})
    with pytest.raises(AnswerError, match="is not of the form"):
        fetch_record(connect(url=canned.url), "0" * 14)


@pytest.mark.parametrize("name", ["../whoami", "0" * 13, "0" * 14 + "\n", ""])
def test_an_id_that_would_lead_elsewhere_is_not_followed(connect, canned, name):
    canned.answer({})
    with pytest.raises(AnswerError):
        fetch_record(connect(url=canned.url), name)
    assert canned.requests == []


def test_what_came_before(connect, live):
    connection = connect()
    for score_us in (10.0, 20.0, 15.0):
        send(connection, pending(live))
        newest = conclude(live, score_us)
    previous = fetch_previous(connection, fetch_record(connection, newest))
    assert (previous.last.score_us, previous.best.score_us) == (20.0, 10.0)
    first = fetch_record(connection, previous.best.id)
    assert fetch_previous(connection, first).last is None
    later = dataclasses.replace(fetch_record(connection, newest), evaluator_version="99")
    assert fetch_previous(connection, later).best is None  # nothing is comparable with it


def test_a_posted_record_is_listed_and_not_ranked(connect, live):
    connection = connect()
    state = send(connection, pending(live))
    conclude(live, 12.5)
    own = dataclasses.replace(fetch_record(connection, state.id), score_us=0.5)
    name, ruling = post_record(connection, own)
    assert (post_record(connection, own), ruling) == ((name, None), None)
    board = live.get("/api/v1/boards/scale/b200/closed").json()
    assert [row["score_us"] for row in board["ranked"]] == [12.5]
    assert [(row["id"], row["score_us"]) for row in board["unverified"]] == [(name, 0.5)]
    with pytest.raises(RefusalError, match="the record is of team 'bolt', the token of 'acme': post your own"):
        post_record(connection, dataclasses.replace(own, team="bolt"))


def test_what_is_under_way_is_kept_whole_and_for_its_owner_only(live, tmp_path):
    folder = PendingFolder(tmp_path)
    first, second = pending(live), dataclasses.replace(pending(live), url="https://other.example.org")
    for item in (first, second):
        folder.save(item)
    assert folder.list() == sorted((first, second), key=lambda item: item.key, reverse=True)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "pending").iterdir()} == {0o600}
    folder.save(first.acknowledged("0" * 14))
    folder.forget(second)
    folder.forget(second)
    assert folder.list() == [Pending(first.key, first.url, "scale", "0" * 14)]
    (tmp_path / "pending" / "zz.json").write_text("{")
    assert len(folder.list()) == 1
