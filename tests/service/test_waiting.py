"""Positions are the order in which jobs are really served; estimates come from what was observed."""

from __future__ import annotations

import random

from sqlalchemy import delete, update

from harness.service.job import BUILD
from harness.service.queue import pass_on
from harness.service.recovery import register_worker
from harness.service.schema import jobs
from harness.service.waiting import Watch, count_waiting, find_position, list_queue, observe, wait_of
from tests.service.event import GPU, START_S, finish, join, lease, submit


def test_positions_are_the_order_of_service(database):
    chance, teams = random.Random(7), ["acme", "bolt", "core", "dusk"]
    join(database, *teams)
    waiting = [submit(database, chance.choice(teams), now_s=START_S + i).id for i in range(12)]
    served = lease(database, now_s=START_S + 20)  # somebody's turn has been
    assert finish(database, served, now_s=START_S + 20)
    waiting.remove(served.job.id)
    with database.read() as connection:
        pace = observe(connection, START_S)
        listed = list_queue(connection, pace, START_S)
        queue = [job for job, _ in listed]
        positions = {job.id: wait_of(connection, job, pace, START_S).position for job in queue}
        assert [(job.id, wait.position) for job, wait in listed] == sorted(positions.items(), key=lambda item: item[1])
        for first, last in ((0, 4), (4, 8), (8, 99)):
            assert list_queue(connection, pace, START_S, last - first, first) == listed[first:last]
    assert sorted(positions.values()) == list(range(1, 12))
    order = []
    for i in range(11):
        held = lease(database, now_s=START_S + 30 + i)
        order.append(held.job.id)
        assert finish(database, held, now_s=START_S + 30 + i)
    assert order == sorted(waiting, key=positions.__getitem__)


def wait_of_now(database, job):
    with database.read() as connection:
        return wait_of(connection, job, observe(connection, START_S), START_S).position


def jobs_of(connection):
    return [job for job, _ in list_queue(connection, observe(connection, START_S), START_S)]


def test_a_list_of_the_queue_is_without_records(database):
    join(database, "acme")
    built = [submit(database, now_s=START_S + i).id for i in range(2)]
    for _ in built:
        leased = lease(database)
        with database.write() as connection:
            assert pass_on(connection, leased, {"large": "x" * 9999}, START_S)
    held = lease(database, GPU).job.id
    late = submit(database, now_s=START_S + 9).id
    with database.read() as connection:
        assert [(job.id, job.checked) for job in jobs_of(connection)] == [
            (name, None) for name in (held, *(name for name in built if name != held), late)
        ]


def test_a_position_in_turns():
    waiting, order = {"acme": 3, "bolt": 1, "core": 5}, ["core", "acme", "bolt"]
    assert find_position("core", 1, waiting, order) == 1
    assert find_position("acme", 1, waiting, order) == 2
    assert find_position("bolt", 1, waiting, order) == 3
    assert find_position("acme", 3, waiting, order) == 3 + 1 + 3
    assert find_position("dusk", 1, waiting, order) == 4, "who is not there yet comes after everybody's first"


def test_who_comes_after_a_look_is_told_the_position_of_its_turn(database):
    """The look knows whose turn has been, also of teams of which nothing waited."""
    served, waiting = ["acme", "bolt"], ["core", "dusk", "ember"]
    join(database, *served, *waiting, "flint", "gorge")
    for i, team in enumerate((*served, "core")):
        submit(database, team, now_s=START_S + i)
        assert finish(database, lease(database, now_s=START_S + i), now_s=START_S + i)
    for i, team in enumerate(waiting):
        submit(database, team, now_s=START_S + 10 + i)
    watch = Watch()
    with database.read() as connection:
        watch.refresh(connection, START_S + 20)
    for team, position in (("flint", 3), ("acme", 3), ("gorge", 3)):  # before `core`: its turn was last
        job = submit(database, team, now_s=START_S + 20)
        assert watch.wait_of_new(job, 1).position == position == wait_of_now(database, job), team
        with database.write() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == job.id))
    job = submit(database, "core", now_s=START_S + 21)
    assert watch.wait_of_new(job, 2).position == wait_of_now(database, job) == 4


def test_estimates_come_from_what_was_observed(database):
    join(database, "acme")
    for _ in range(3):
        submit(database)
        assert finish(database, lease(database), now_s=START_S + 10)
    with database.write() as connection:
        connection.execute(update(jobs).values(build_s=40.0))
        register_worker(connection, "b1", BUILD, (), START_S)
        register_worker(connection, "b2", BUILD, (), START_S)
    ids = [submit(database, now_s=START_S + i).id for i in range(5)]
    lease(database, now_s=START_S)
    with database.read() as connection:
        pace = observe(connection, START_S)
        assert (pace.durations_s, pace.workers) == ({"build": 40.0}, {"build": 2})
        queue = {job.id: job for job in jobs_of(connection)}
        first = wait_of(connection, queue[ids[0]], pace, START_S + 30)
        assert (first.position, first.estimate_s) == (0, 10.0)
        waits = [wait_of(connection, queue[name], pace, START_S) for name in ids[1:]]
        assert [wait.position for wait in waits] == [1, 2, 3, 4]
        estimates = [wait.estimate_s for wait in waits]
        assert estimates == sorted(estimates)
        assert estimates[0] >= 40.0
        assert count_waiting(connection) == {("build", "queued"): 4, ("build", "running"): 1}


def test_what_is_read_together_is_of_one_moment(database):
    join(database, "acme")
    submit(database)
    with database.read() as connection:
        assert len(jobs_of(connection)) == 1
        submit(database)
        assert len(jobs_of(connection)) == 1
    with database.read() as connection:
        assert len(jobs_of(connection)) == 2


def test_nothing_is_promised_where_nobody_works(database):
    join(database, "acme")
    job = submit(database)
    with database.read() as connection:
        assert wait_of(connection, job, observe(connection, START_S), START_S).estimate_s is None
