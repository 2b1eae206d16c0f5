"""Real processes: a server and its workers, killed, stopped and started again. Outcomes are recorded ones."""

from __future__ import annotations

import os
import shutil
import signal
import time

import pytest
from sqlalchemy import func, select

from harness.service import server as module
from harness.service.evaluating import local_targets
from harness.service.http import Service
from harness.service.job import HELD
from harness.service.organising import found_team, give_token
from harness.service.reading import load_board
from harness.service.schema import jobs, workers
from harness.service.settings import Limits, Settings
from harness.service.supervisor import Crew, Supervisor
from harness.spec import load_season
from harness.store.record import decode_record
from harness.store.schema import records
from tests.service.event import WORKSPACE, record_outcome
from tests.service.server import ENOUGH_S, Server, log_lines
from tests.service.test_organising import KEY

BOTH = pytest.mark.parametrize(
    "database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
WORKERS = ("--workers", "build=1,gpu=1", "--targets", "b200")


@pytest.fixture
def season(tmp_path, database, database_url):
    """A repository, its database with a team, and a server that is started by the test."""
    root = tmp_path / "repository"
    shutil.copytree(WORKSPACE, root)
    outcomes = tmp_path / "outcomes"
    outcomes.mkdir()
    with database.write() as connection:
        found_team(connection, "test", "acme", "", time.time())
        token = give_token(connection, "test", time.time(), team="acme", days=1)[1]
    started = []

    def start(*options, pace=1.0):
        evaluate = ("--evaluate", f"recorded={outcomes}@{pace}")
        started.append(Server(root, database_url, *evaluate, *(options or WORKERS)))
        return started[-1]

    yield outcomes, token, start
    for server in started:
        if server.process.poll() is None:
            server.kill()


def wait_until(condition, told=""):
    deadline = time.monotonic() + ENOUGH_S
    while not (found := condition()):
        assert time.monotonic() < deadline, told
        time.sleep(0.05)
    return found


def held_by(database):
    """The job under way and its worker's process."""
    query = select(jobs.c.id, workers.c.owner_pid).join(workers, workers.c.id == jobs.c.worker)
    with database.read() as connection:
        return connection.execute(query.where(jobs.c.state.in_(HELD))).first()


@BOTH
def test_what_is_killed_goes_on_where_it_was(season, database):
    """Everything killed while jobs are under way, then started again: each is scored, and once."""
    outcomes, token, start = season
    sources = [f"# number {i}\ndef custom_kernel(data): ..." for i in range(6)]
    for i, source in enumerate(sources):
        record_outcome(outcomes, source, 10.0 + i, build_s=0.2, replay_s=0.2)
    server = start()
    taken = [server.submit(token, source).json()["id"] for source in sources]
    wait_until(lambda: held_by(database))
    server.kill()
    server.start()
    for name in taken:
        assert server.wait_done(name)["verdict"] == "PASSED"
    assert server.stop() == 0
    with database.read() as connection:
        stored = [decode_record(document) for document in connection.scalars(select(records.c.document))]
        assert sorted(record.id for record in stored) == sorted(taken)
        assert {record.score_us for record in stored} == {10.0 + i for i in range(6)}
        assert load_board(connection, KEY).entries[0].score_us == 10.0
        assert connection.execute(select(func.max(jobs.c.faults))).scalar() == 0, "a restart is no fault of the job"
        assert connection.execute(select(func.count()).select_from(workers)).scalar() == 0


@pytest.mark.slow
@SQLITE
def test_a_worker_that_dies_twice_of_a_job_ends_it(season, database):
    outcomes, token, start = season
    record_outcome(outcomes, "deadly", 5.0, build_s=3600)
    record_outcome(outcomes, "harmless", 7.0)
    server = start()
    deadly = server.submit(token, "deadly").json()["id"]
    for _ in range(2):
        job_id, pid = wait_until(lambda: held_by(database), server.log)
        assert job_id == deadly
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda pid=pid: (held_by(database) or (0, 0))[1] != pid)
    record = server.get(f"/api/v1/records/{server.wait_done(deadly)['id']}", token).json()
    assert (record["verdict"]["kind"], record["verdict"]["reason"]) == ("HARNESS_ERROR", "lost_worker")
    assert server.wait_done(server.submit(token, "harmless").json()["id"])["verdict"] == "PASSED"
    assert server.stop() == 0
    assert [line["event"] for line in log_lines(server.log)].count("worker died") == 2


@BOTH
def test_who_stops_gives_back_what_it_had(season, database):
    outcomes, token, start = season
    record_outcome(outcomes, "long", 5.0, build_s=3600)
    server = start()
    name = server.submit(token, "long").json()["id"]
    wait_until(lambda: held_by(database))
    assert server.stop() == 0
    with database.read() as connection:
        row = connection.execute(select(jobs).where(jobs.c.id == name)).one()
        assert (row.state, row.faults, row.interruptions, row.worker) == ("queued", 0, 0, None)
        assert connection.execute(select(func.count()).select_from(workers)).scalar() == 0
    shutil.rmtree(outcomes)
    record_outcome(outcomes, "long", 5.0)
    server.start()
    assert server.wait_done(name)["verdict"] == "PASSED"


@SQLITE
def test_a_signal_while_it_starts_stops_it(database, monkeypatch):
    """It comes just before the server looks after signals itself: nobody is told that it answers, no worker starts."""
    run = module._Server.run

    def run_after_signal(self, sockets):
        os.kill(os.getpid(), signal.SIGTERM)
        run(self, sockets)

    monkeypatch.setattr(module._Server, "run", run_after_signal)
    settings = Settings(WORKSPACE, "", Limits())
    service = Service(database, settings)
    supervisor = Supervisor(database, settings, Crew({"build": 1}))
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        module._serve(service, supervisor, "127.0.0.1", 0, lambda *_: pytest.fail("it goes on"))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert service.closing


@pytest.mark.slow
@SQLITE
def test_workers_end_with_their_server(season, database):
    outcomes, token, start = season
    record_outcome(outcomes, "long", 5.0, build_s=3600)
    server = start()
    server.submit(token, "long")
    _, pid = wait_until(lambda: held_by(database))
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()

    def is_gone():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(is_gone, "the worker lives on")
    with database.read() as connection:
        assert connection.execute(select(jobs.c.state)).scalar() == "queued"


@pytest.mark.slow
@SQLITE
def test_an_outcome_that_nobody_recorded_is_our_fault(season, database):
    outcomes, token, start = season
    record_outcome(outcomes, "something else", 5.0)
    server = start()
    done = server.wait_done(server.submit(token, "unknown").json()["id"])
    record = server.get(done["record"], token).json()
    assert done["verdict"] == "HARNESS_ERROR"
    assert done["attempt"] == 2
    assert "no outcome is recorded for source" in record["verdict"]["message"]
    assert "it counts against nobody" in record["verdict"]["message"]


@pytest.mark.slow
@SQLITE
def test_a_real_submission_is_really_built(tmp_path, database, database_url):
    root = tmp_path / "repository"
    shutil.copytree(WORKSPACE, root)
    starter = (root / "submissions" / "starter" / "scale" / "submission.py").read_text()
    with database.write() as connection:
        found_team(connection, "test", "acme", "", time.time())
        token = give_token(connection, "test", time.time(), team="acme", days=1)[1]
    server = Server(root, database_url, "--workers", "build=1")
    try:
        good = server.submit(token, starter).json()["id"]
        bad = server.submit(token, starter.replace("* s[rows]", "+ s[rows]")).json()["id"]
        assert server.wait_done(good, 600)["verdict"] == "CHECKED"
        assert server.wait_done(bad, 600)["verdict"] == "INCORRECT"
        record = server.get(f"/api/v1/records/{good}", token).json()
        assert (record["team"], record["artifact_key"] is not None, record["ranked"]) == ("acme", True, False)
        assert record["sandbox_level"] in ("strict", "restricted", "none")
        board = server.get("/api/v1/boards/scale/b200/closed").json()
        assert [row["record"] for row in board["unranked"]] == [good]
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.kill()


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here")
@SQLITE
def test_a_real_submission_is_built_replayed_and_ranked(tmp_path, database, database_url):
    root = tmp_path / "repository"
    shutil.copytree(WORKSPACE, root)
    starter = (root / "submissions" / "starter" / "scale" / "submission.py").read_text()
    target = local_targets(load_season(root))[0]
    with database.write() as connection:
        found_team(connection, "test", "acme", "", time.time())
        token = give_token(connection, "test", time.time(), team="acme", days=1)[1]
    server = Server(root, database_url, "--workers", "build=1,gpu=1")
    try:
        name = server.submit(token, starter, target=target).json()["id"]
        assert server.wait_done(name, 600)["verdict"] == "PASSED"
        board = server.get(f"/api/v1/boards/scale/{target}/closed").json()
        assert [(row["place"], row["record"]) for row in board["ranked"]] == [(1, name)]
        record = server.get(f"/api/v1/records/{name}", token).json()
        assert record["score_us"] > 0
        assert [stage["name"] for stage in record["stages"]] == ["build", "check", "replay"]
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.kill()
