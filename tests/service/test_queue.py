"""The queue: leases, fences, turns, and what becomes of work that nobody finishes."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading

import pytest
from sqlalchemy import func, insert, select, update

from harness.errors import StoreError
from harness.service.job import BUILD, DONE, QUEUED, REPLAY, load_job
from harness.service.organising import freeze, thaw
from harness.service.queue import Worker, lease_job, release_job, renew_lease, retry_job, start_job
from harness.service.recovery import MAX_INTERRUPTIONS, forget_worker, recover, register_worker
from harness.service.schema import frozen, jobs, workers
from harness.store.database import Database
from harness.store.record import decode_record
from harness.store.schema import records
from tests.service.event import BUILDER, GPU, LIMITS, START_S, finish, hand_on, join, lease, outcome, rules_now, submit

SHORT = dataclasses.replace(LIMITS, build_s=200.0)
LATER_S = START_S + LIMITS.lease_s + 1


def job_of(database, job_id):
    with database.read() as connection:
        return load_job(connection, job_id)


def stored(database):
    with database.read() as connection:
        return [decode_record(document) for document in connection.scalars(select(records.c.document))]


def test_a_job_goes_through_both_stages_to_its_record(database):
    join(database, "acme")
    job = submit(database)
    built = lease(database)
    assert (built.job.id, built.attempt, built.job.stage) == (job.id, 1, BUILD)
    assert lease(database) is None, "it is leased"
    assert hand_on(database, built, now_s=START_S + 20)
    assert job_of(database, job.id).stage == REPLAY
    assert lease(database) is None, "a builder does not replay"
    assert lease(database, dataclasses.replace(GPU, targets=("mi300",))) is None, "another GPU does not either"
    replayed = lease(database, GPU)
    assert replayed.attempt == 2
    assert finish(database, replayed)
    done = job_of(database, job.id)
    assert (done.state, done.verdict, done.worker) == (DONE, "PASSED", None)
    assert [record.id for record in stored(database)] == [job.id]
    with database.read() as connection:
        assert connection.execute(select(jobs.c.build_s)).scalar() == 20


def test_only_the_holder_of_a_lease_writes(database):
    join(database, "acme")
    submit(database)
    first = lease(database)
    with database.write() as connection:
        assert recover(connection, LIMITS, LATER_S).requeued == (first.job.id,)
    second = lease(database, now_s=LATER_S)
    assert second.attempt > first.attempt
    assert not finish(database, first, now_s=LATER_S), "a lease that is somebody else's now"
    assert not hand_on(database, first, now_s=LATER_S)
    with database.write() as connection:
        assert not renew_lease(connection, first, LIMITS, LATER_S, None)
        assert not release_job(connection, first, LATER_S)
        assert not retry_job(connection, first, LATER_S)
        assert not start_job(connection, first, LIMITS, LATER_S)
    assert stored(database) == []
    assert finish(database, second, now_s=LATER_S)
    assert not finish(database, second, now_s=LATER_S), "a result that is in already"
    assert len(stored(database)) == 1


def test_a_lease_that_ran_out_writes_nothing_though_nobody_took_it(database):
    join(database, "acme")
    submit(database)
    late = lease(database)
    assert not finish(database, late, now_s=LATER_S)
    assert stored(database) == []


def test_a_record_of_another_job_is_refused(database):
    join(database, "acme", "others")
    submit(database)
    held = lease(database)
    for wrong in ({"team": "others"}, {"id": "0" * 14}, {"target": "h100"}, {"source_sha256": "00" * 32}):
        with pytest.raises(StoreError, match=f"is of another {next(iter(wrong))}: it is not stored"):
            finish(database, held, outcome(held.job, 1.0, **wrong))
    assert job_of(database, held.job.id).state != DONE


def test_renewing_keeps_a_lease_until_the_stage_is_over(database):
    join(database, "acme")
    submit(database)
    held, now_s = lease(database, limits=SHORT), START_S
    while now_s + SHORT.lease_s < held.deadline_s:
        now_s += SHORT.lease_s - 1
        with database.write() as connection:
            assert renew_lease(connection, held, SHORT, now_s, {"stage": "trace", "done": 3, "total": 7})
            assert recover(connection, SHORT, now_s).requeued == ()
    assert job_of(database, held.job.id).progress == {"stage": "trace", "done": 3, "total": 7}
    with database.write() as connection:
        assert not renew_lease(connection, held, SHORT, held.deadline_s, None)
        assert recover(connection, SHORT, held.deadline_s).requeued == (held.job.id,)


def test_teams_take_turns(database):
    join(database, "many", "few", "late")
    for i, team in enumerate(("many", "many", "many", "many", "few", "late")):
        submit(database, team, now_s=START_S - 10 + i)
    order = []
    for i in range(6):
        held = lease(database, now_s=START_S + i)
        order.append(held.job.team)
        assert finish(database, held, now_s=START_S + i)
    assert order == ["many", "few", "late", "many", "many", "many"]


def test_who_has_work_under_way_waits_for_the_others(database):
    join(database, "busy", "idle")
    submit(database, "busy")
    lease(database, now_s=START_S)
    submit(database, "busy")
    submit(database, "idle")
    served = lease(database, now_s=START_S + 1)
    assert served.job.team == "idle"


def test_own_jobs_go_in_their_order_and_a_released_one_first(database):
    join(database, "acme")
    ids = [submit(database, now_s=START_S + i).id for i in range(3)]
    held = lease(database)
    with database.write() as connection:
        assert release_job(connection, held, START_S)
    assert job_of(database, ids[0]).faults == 0
    assert [lease(database, now_s=START_S + i).job.id for i in range(3)] == ids


def test_our_own_fault_is_tried_once_more(database):
    join(database, "acme")
    submit(database)
    with database.write() as connection:
        assert retry_job(connection, lease_job(connection, BUILDER, LIMITS, START_S), START_S)
        again = lease_job(connection, BUILDER, LIMITS, START_S)
        assert again.job.faults == 1
        assert not retry_job(connection, again, START_S), "once"


def test_a_lost_worker_costs_one_more_try_then_a_record_that_counts_against_nobody(database):
    join(database, "acme")
    job = submit(database)
    lease(database)
    with database.write() as connection:
        assert recover(connection, LIMITS, LATER_S).requeued == (job.id,)
    lease(database, now_s=LATER_S)
    with database.write() as connection:
        recovered = recover(connection, LIMITS, LATER_S + LIMITS.lease_s)
    assert (recovered.requeued, recovered.given_up) == ((), (job.id,))
    (record,) = stored(database)
    assert (record.kind, record.verdict.reason, record.team) == ("HARNESS_ERROR", "lost_worker", "acme")
    assert "counts against nobody. Submit again." in record.verdict.message


def test_what_waits_for_too_long_is_given_up(database):
    join(database, "acme")
    job = submit(database)
    with database.write() as connection:
        assert recover(connection, LIMITS, START_S + LIMITS.queue_s - 1).given_up == ()
        assert recover(connection, LIMITS, START_S + LIMITS.queue_s + 1).given_up == (job.id,)
    assert "It waited for longer than 24 hours" in stored(database)[0].verdict.message


def test_the_time_that_the_server_was_down_is_no_waiting(database):
    join(database, "acme")
    job = submit(database)
    back_s = START_S + 3 * LIMITS.queue_s
    with database.write() as connection:
        assert recover(connection, LIMITS, back_s, at_start=True).given_up == ()
        assert recover(connection, LIMITS, back_s + LIMITS.queue_s - 1).given_up == ()
        assert recover(connection, LIMITS, back_s + LIMITS.queue_s + 1).given_up == (job.id,)


DIE = """
import sys
from harness.service.organising import freeze, thaw
from harness.service.queue import Worker, lease_job
from harness.service.recovery import register_worker
from harness.store.database import Database
from tests.service.event import LIMITS
name, url, now_s = sys.argv[1], sys.argv[2], float(sys.argv[3])
with Database(url, 15.0).write() as connection:
    register_worker(connection, name, "build", (), now_s)
    assert lease_job(connection, Worker(name, "build"), LIMITS, now_s) is not None
"""


def work_and_die(url, name):
    subprocess.run([sys.executable, "-c", DIE, name, url, str(START_S)], check=True)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_job_of_a_dead_process_need_not_wait_for_its_lease(database, database_url):
    join(database, "acme")
    job = submit(database)
    work_and_die(database_url, "first")
    with database.write() as connection:
        assert recover(connection, LIMITS, START_S + 1, at_start=True).requeued == (job.id,)
        assert connection.execute(select(func.count()).select_from(workers)).scalar() == 0
    found = job_of(database, job.id)
    assert (found.state, found.interruptions, found.faults) == (QUEUED, 1, 0)
    with database.write() as connection:
        connection.execute(update(jobs).values(interruptions=MAX_INTERRUPTIONS))
    work_and_die(database_url, "second")
    with database.write() as connection:
        assert recover(connection, LIMITS, START_S + 1, at_start=True).given_up == (job.id,)


def test_a_living_worker_keeps_its_job(database):
    join(database, "acme")
    submit(database)
    with database.write() as connection:
        register_worker(connection, "me", BUILD, (), START_S)
        assert lease_job(connection, Worker("me", BUILD), LIMITS, START_S) is not None
        assert recover(connection, LIMITS, START_S + 1, at_start=True).requeued == ()
        forget_worker(connection, "me")
        assert recover(connection, LIMITS, START_S + 1, at_start=True).requeued == (), "unknown, so the lease decides"


def test_what_is_frozen_is_not_given_up(database):
    join(database, "acme")
    submit(database)
    much_later_s = START_S + 2 * LIMITS.queue_s
    with database.write() as connection:
        freeze(connection, "ada", "scale", "a fault in it", rules_now(connection), START_S)
        assert recover(connection, LIMITS, much_later_s).given_up == ()
        thaw(connection, "ada", "scale", "mended", much_later_s)
        assert recover(connection, LIMITS, much_later_s + 1).given_up == ()
        assert lease_job(connection, BUILDER, LIMITS, much_later_s + 1) is not None


@pytest.mark.parametrize("stopped", ["scale", ""])
def test_nothing_frozen_is_started(database, stopped):
    join(database, "acme")
    submit(database)
    with database.write() as connection:
        connection.execute(insert(frozen).values(problem=stopped, reason="a fault in it", act=1))
    assert lease(database) is None
    with database.write() as connection:
        connection.execute(frozen.delete())
    assert lease(database) is not None


def test_many_workers_at_once_get_each_job_once(database, database_url):
    teams = [f"team{i}" for i in range(5)]
    join(database, *teams)
    wanted = {submit(database, team).id for team in teams for _ in range(4)}
    taken, broken = [], []

    def work(number):
        own = Database(database_url, 15.0)
        try:
            while (held := lease(own, Worker(f"w{number}", BUILD))) is not None:
                taken.append(held.job.id)
                assert finish(own, held)
        except BaseException as error:
            broken.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    # A worker that finds only jobs which others hold at that moment goes home early; the rest is still there.
    while (held := lease(database)) is not None:
        taken.append(held.job.id)
        assert finish(database, held)
    assert sorted(taken) == sorted(wanted)
    assert sorted(record.id for record in stored(database)) == sorted(wanted)
