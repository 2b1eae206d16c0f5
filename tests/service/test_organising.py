"""What organisers do, and that boards and the log of acts say it."""

from __future__ import annotations

import threading

import pytest

from harness.errors import UsageError
from harness.service import organising
from harness.service.acts import list_acts
from harness.service.entries import BoardKey, find_ruling
from harness.service.job import load_job
from harness.service.reading import list_leaders, load_board, load_record, load_standings
from harness.service.results import conclude
from harness.store.record import VerdictRecord
from tests.service.event import START_S, finish, join, lease, outcome, rules_now, submit

KEY = BoardKey("scale", "b200", "closed")
NEWER = {"helion": "1.6.0", "torch": "2.13.0", "triton": "3.7.1"}


def enter(database, team, score_us, at_s=0, **changes):
    """Submit and conclude; return the record's id."""
    job = submit(database, team, now_s=START_S + at_s)
    held = lease(database, now_s=START_S + at_s)
    assert held.job.id == job.id
    assert finish(database, held, outcome(held.job, score_us, **changes), now_s=START_S + at_s)
    return job.id


def standing(database):
    with database.read() as connection:
        return [entry.record.team for entry in load_board(connection, KEY).entries]


def act(database, what, *arguments, **options):
    with database.write() as connection:
        return what(connection, "ada", *arguments, START_S, **options)


def test_a_record_without_a_program_does_not_stand_for_all_of_them(database):
    join(database, "acme")
    enter(database, "acme", 5.0, 1)
    fault = enter(database, "acme", None, 2, normalised_source_sha256="")
    with pytest.raises(UsageError, match="of no program that could be told from others: name its team instead"):
        act(database, organising.disqualify, "a slip", record=fault)
    assert standing(database) == ["acme"]


def test_a_ruling_takes_every_run_of_a_program_off_and_later_ones_too(database):
    join(database, "acme", "bolt")
    same = {"normalised_source_sha256": "aa" * 32}
    first = enter(database, "acme", 5.0, 1, **same)
    enter(database, "bolt", 20.0, 2)
    enter(database, "acme", 5.1, 3, **same)
    enter(database, "acme", 30.0, 4)
    assert standing(database) == ["acme", "bolt"]
    assert act(database, organising.disqualify, "its output was stored before", record=first) == 2
    assert standing(database) == ["bolt", "acme"], "the team's next program is ranked now"
    later = enter(database, "acme", 4.0, 5, **same)
    assert standing(database) == ["bolt", "acme"]
    with database.read() as connection:
        board = load_board(connection, KEY)
        assert [round(entry.score_us) for entry in board.entries] == [20, 30]
        assert [record.team for record in list_leaders(connection, KEY, board.setting)] == ["bolt"]
        record = load_record(connection, later, with_code=True)
        assert record.ranked, "records are never changed"
        assert find_ruling(connection, record.team, record.program) == "its output was stored before"
        (done,) = list_acts(connection, limit=1)
        assert (done.actor, done.act, done.subject) == ("ada", "disqualify", first)
        assert done.details["team"] == "acme"
    assert act(database, organising.reinstate, "it was not", record=first) == 3
    assert standing(database) == ["acme", "bolt"]
    with database.read() as connection:
        board = load_board(connection, KEY)
        assert board.entries[0].runs == 3
        assert [record.team for record in list_leaders(connection, KEY, board.setting)] == ["acme", "acme"]
        assert [done.act for done in list_acts(connection)][:2] == ["reinstate", "disqualify"]


def test_a_team_can_be_ruled_out_and_in(database):
    join(database, "acme", "bolt")
    enter(database, "acme", 5.0, 1)
    enter(database, "acme", None, 2)
    enter(database, "bolt", 20.0, 3)
    assert act(database, organising.disqualify, "two teams of one person", team="acme") == 2
    enter(database, "acme", 4.0, 4)
    with database.read() as connection:
        board = load_board(connection, KEY)
        assert ([e.record.team for e in board.entries], board.unranked) == (["bolt"], ())
        assert [s.team for s in load_standings(connection, rules_now(connection), "b200", "closed")] == ["bolt"]
    assert act(database, organising.reinstate, "it was its sister", team="acme") == 3
    assert standing(database) == ["acme", "bolt"]


def test_who_was_ruled_out_before_the_first_record_can_come_back(database):
    join(database, "acme")
    with database.write() as connection:
        organising.disqualify(connection, "ada", "why", START_S, team="acme")
    enter(database, "acme", 5.0)
    assert standing(database) == []
    assert act(database, organising.reinstate, "why not", team="acme") == 1
    assert standing(database) == ["acme"]


def test_what_is_ruled_out_makes_no_new_version_count_until_it_comes_back(database):
    join(database, "acme", "bolt")
    enter(database, "acme", 5.0, 1)
    act(database, organising.disqualify, "why", team="bolt")
    enter(database, "bolt", 4.0, 2, problem_version="new")
    assert standing(database) == ["acme"]
    act(database, organising.reinstate, "why not", team="bolt")
    assert standing(database) == ["bolt"]


@pytest.mark.parametrize("first", ["ruling", "record"])
def test_a_setting_counts_no_more_once_all_of_it_is_ruled_out(database, first):
    join(database, "acme", "bolt", "core")
    enter(database, "acme", 5.0, 1)
    enter(database, "bolt", 6.0, 2)
    if first == "ruling":
        act(database, organising.disqualify, "it cheats", team="core")
    enter(database, "core", 1.0, 3, toolchain=NEWER)
    if first == "record":
        assert standing(database) == ["core"]
        act(database, organising.disqualify, "it cheats", team="core")
    with database.read() as connection:
        board = load_board(connection, KEY)
        assert ([entry.record.team for entry in board.entries], board.elsewhere) == (["acme", "bolt"], ())
        standings = load_standings(connection, rules_now(connection), "b200", "closed")
        assert [place.team for place in standings] == ["acme", "bolt"]
    act(database, organising.reinstate, "it does not", team="core")
    assert standing(database) == ["core"]


def test_the_newest_setting_with_a_place_counts_after_each_ruling(database):
    join(database, "acme", "bolt", "core")
    enter(database, "acme", 5.0, 1)
    enter(database, "bolt", None, 2, toolchain=NEWER)
    enter(database, "core", 1.0, 3, toolchain=NEWER)
    act(database, organising.disqualify, "why", team="core")
    assert standing(database) == ["acme"], "what has no place makes no setting count before what has one"
    act(database, organising.disqualify, "why", team="acme")
    with database.read() as connection:
        board = load_board(connection, KEY)
    assert (board.entries, [apart.record.team for apart in board.unranked]) == ((), ["bolt"])
    act(database, organising.disqualify, "why", team="bolt")
    with database.read() as connection:
        assert dict(load_board(connection, KEY).setting.toolchain) == NEWER, "the newest of what is ruled out"
    act(database, organising.reinstate, "why not", team="acme")
    assert standing(database) == ["acme"]


def test_a_ruling_on_a_program_is_told_before_one_on_its_team(database):
    join(database, "acme")
    record = enter(database, "acme", 5.0)
    act(database, organising.disqualify, "all of it", team="acme")
    act(database, organising.disqualify, "this one", record=record)
    with database.read() as connection:
        program = load_record(connection, record, with_code=True).program
        assert find_ruling(connection, "acme", program) == "this one"
        assert find_ruling(connection, "acme", "another") == "all of it"


def test_what_failed_is_not_counted_among_what_a_ruling_takes_off(database):
    join(database, "acme")
    act(database, organising.disqualify, "why", team="acme")
    failed = VerdictRecord("INCORRECT", "judge", message="wrong")
    enter(database, "acme", 1.0, 1, verdict=failed, ranked=False)
    assert act(database, organising.reinstate, "why not", team="acme") == 0


@pytest.mark.parametrize("first", ["ruling", "record"])
def test_a_ruling_and_a_first_record_at_the_same_moment_do_not_miss_each_other(database, first):
    join(database, "acme")
    submit(database)
    held = lease(database)

    def rule(connection):
        organising.disqualify(connection, "ada", "why", START_S, team="acme")

    def record(connection):
        assert conclude(connection, held, outcome(held.job, 5.0), START_S)

    def do_second():
        with database.write() as connection:
            (record if first == "ruling" else rule)(connection)

    second = threading.Thread(target=do_second)
    with database.write() as connection:
        (rule if first == "ruling" else record)(connection)
        second.start()
        second.join(0.5)  # as far as it gets meanwhile
    second.join()
    assert standing(database) == []
    assert act(database, organising.reinstate, "why not", team="acme") == 1
    assert standing(database) == ["acme"]


def test_rulings_need_a_subject_and_a_reason(database):
    join(database, "acme")
    record = enter(database, "acme", 5.0)
    for options, reason, message in (
        ({"record": "nothing"}, "why", "there is no record 'nothing'"),
        ({"team": "nobody"}, "why", "there is no team 'nobody'"),
        ({}, "why", "name either a record or a team"),
        ({"record": record, "team": "acme"}, "why", "name either a record or a team"),
        ({"record": record}, " ", "say why: the reason stands in the log of acts"),
    ):
        with pytest.raises(UsageError, match=message):
            act(database, organising.disqualify, reason, **options)
    with pytest.raises(UsageError, match=f"{record} was not disqualified by itself"):
        act(database, organising.reinstate, "why", record=record)
    with database.read() as connection:
        assert list_acts(connection) == []


def test_a_submission_runs_again_and_counts_from_when_it_was_made(database):
    join(database, "acme")
    first = enter(database, "acme", 5.0, 1)
    with database.write() as connection:
        again = organising.run_again(connection, "ada", first, "a hot GPU", rules_now(connection), START_S + 100)
    assert again.rerun_of == first
    held = lease(database, now_s=START_S + 101)
    assert held.job.id == again.id
    assert held.job.created == load(database, first).created
    assert finish(database, held, outcome(held.job, 7.0), now_s=START_S + 102)
    with database.read() as connection:
        (entry,) = load_board(connection, KEY).entries
        assert entry.runs == 2
        assert list_acts(connection)[0].details == {"as": again.id, "team": "acme"}


def load(database, job_id):
    with database.read() as connection:
        return load_job(connection, job_id)


def test_what_cannot_run_again(database):
    join(database, "acme")
    waiting = submit(database)
    for job_id, message in (("nothing", "there is no submission 'nothing'"), (waiting.id, "is not done yet")):
        with database.write() as connection, pytest.raises(UsageError, match=message):
            organising.run_again(connection, "ada", job_id, "why", rules_now(connection), START_S)


def test_freezing_and_going_on(database):
    join(database, "acme")
    submit(database)
    with database.write() as connection:
        rules = rules_now(connection)
        organising.freeze(connection, "ada", "", "the GPU is on fire", rules, START_S)
        with pytest.raises(UsageError, match="the season has no problem 'softmax': scale"):
            organising.freeze(connection, "ada", "softmax", "why", rules, START_S)
        assert organising.list_frozen(connection) == {"": "the GPU is on fire"}
    assert lease(database) is None
    act_thaw(database, "")
    assert lease(database) is not None
    with pytest.raises(UsageError, match="the season is not frozen"):
        act_thaw(database, "")
    with database.read() as connection:
        assert [(a.act, a.subject) for a in list_acts(connection)] == [
            ("thaw", "all problems"),
            ("freeze", "all problems"),
        ]


def act_thaw(database, problem):
    with database.write() as connection:
        organising.thaw(connection, "ada", problem, "mended", START_S)


def test_tokens_and_teams_are_in_the_log_without_secrets(database):
    with database.write() as connection:
        organising.found_team(connection, "ada", "acme", "Acme Corp", START_S)
        name, token = organising.give_token(connection, "ada", START_S, team="acme", days=1)
        organising.take_token(connection, "ada", name, "lost", START_S)
        log = list_acts(connection)
    assert [(a.act, a.subject) for a in log] == [("revoke", name), ("token", name), ("team", "acme")]
    assert token[-43:] not in str(log)
