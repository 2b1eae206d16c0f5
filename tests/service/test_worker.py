"""A worker in the test's own process: which of its jobs a signal ends, and what it logs."""

from __future__ import annotations

import json
import logging
import signal

import pytest

from harness.service.job import load_job
from harness.service.settings import Settings
from harness.service.worker import WorkerLoop
from tests.service.event import BUILDER, LIMITS, WORKSPACE, join, outcome, submit


class Signalled:
    """Evaluates, and is told to stop meanwhile: because of its own lease, or of one before."""

    def __init__(self, own: bool) -> None:
        self.own = own

    def build(self, task, listener):
        if self.own:
            self.loop._over = self.loop._lease
        signal.raise_signal(signal.SIGUSR1)
        return outcome(task.job)


@pytest.mark.parametrize(("own", "state"), [(False, "done"), (True, "running")])
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_signal_that_comes_late_does_not_end_the_next_job(database, own, state):
    join(database, "acme")
    job = submit(database)
    evaluator = Signalled(own)
    loop = evaluator.loop = WorkerLoop(database, Settings(WORKSPACE, "", LIMITS), BUILDER, evaluator, frozenset(), 0)
    before = signal.signal(signal.SIGUSR1, loop._on_signal)
    try:
        assert loop._work()
    finally:
        signal.signal(signal.SIGUSR1, before)
    with database.read() as connection:
        assert load_job(connection, job.id).state == state


class Broken:
    """Fails for a reason of ours, with what somebody sent in the error's text."""

    def build(self, task, listener):
        raise RuntimeError("a line of a submission")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_fault_of_ours_is_in_the_log_with_its_place_and_without_its_text(database, caplog):
    join(database, "acme")
    job = submit(database)
    loop = WorkerLoop(database, Settings(WORKSPACE, "", LIMITS), BUILDER, Broken(), frozenset(), 0)
    with caplog.at_level(logging.WARNING, logger="harness.service"):
        assert loop._work()
        assert loop._work()  # the second try is the last
    told = [record.fields for record in caplog.records if record.getMessage() == "evaluation failed"]
    assert [(fields["job"], fields["reason"], fields["stage"]) for fields in told] == [
        (job.id, "RuntimeError", "build")
    ] * 2
    assert "test_worker.py" in told[0]["where"][-1]
    assert "a line of a submission" not in json.dumps(told)
