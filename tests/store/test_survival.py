"""Nothing that was acknowledged is lost: processes are killed, collide, and run out of disk."""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.store import open_store
from harness.store.owner import is_gone, this_process
from harness.store.schema import records
from tests.store.samples import checked, submitted

ROOT = Path(__file__).parents[2]


def start_worker(database: Path, team: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.worker", str(database), team, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def wait_for_line(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    return worker.stdout.readline()


def said(lines: list[str], word: str) -> set[str]:
    return {line.split()[1] for line in lines if line.startswith(word) and line.endswith("\n")}


def test_nothing_acknowledged_is_lost_to_a_kill(tmp_path):
    chance = random.Random(2026)
    database = tmp_path / "board.db"
    acknowledged: set[str] = set()
    finished: set[str] = set()
    for _ in range(6):
        worker = start_worker(database, "acme", 0)
        lines = [wait_for_line(worker)]
        time.sleep(chance.uniform(0, 0.15))
        worker.kill()
        lines += worker.stdout.readlines()
        # Dead, and not reaped yet: a zombie has the pid still, and is as dead as can be.
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
        store = open_store(database)
        interrupted = store.recover()
        worker.wait()
        assert len(interrupted) <= 1
        assert all((r.state, r.verdict, r.kind) == ("interrupted", None, "INTERRUPTED") for r in interrupted)
        acknowledged |= said(lines, "submitted")
        finished |= said(lines, "finished")
        assert store.recover() == []
        store.close()
    store = open_store(database)
    stored = {record.id: record for record in store.records()}
    assert acknowledged <= set(stored)
    assert all(stored[i].state == "finished" for i in finished)
    assert {r.state for r in stored.values()} <= {"finished", "interrupted"}
    assert sqlite3.connect(database).execute("pragma integrity_check").fetchone() == ("ok",)


def test_a_kill_while_the_database_is_made_leaves_a_usable_one(tmp_path):
    started = time.monotonic()
    worker = start_worker(tmp_path / "measure.db", "acme", 1)
    wait_for_line(worker)
    usual_s = time.monotonic() - started
    worker.wait()
    for i, share in enumerate((0.65, 0.75, 0.82, 0.9)):
        worker = start_worker(tmp_path / f"{i}.db", "acme", 0)
        time.sleep(usual_s * share)
        worker.kill()
        worker.wait()
        store = open_store(tmp_path / f"{i}.db")
        store.recover()
        store.submit(submitted())
        store.close()


def test_a_living_process_keeps_its_record(tmp_path):
    database = tmp_path / "board.db"
    mine = submitted()
    store = open_store(database)
    store.submit(mine)
    assert store.recover() == []
    child = subprocess.Popen([sys.executable, "-c", f"""
import sys
from harness.store import open_store
from tests.store.samples import submitted
open_store({str(database)!r}).submit(submitted("child"))
print("ready", flush=True)
sys.stdin.read()
"""], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert wait_for_line(child) == "ready\n"
    child.send_signal(signal.SIGSTOP)
    assert store.recover() == [], "a stopped process lives"
    child.kill()
    child.wait()
    assert [r.team for r in store.recover()] == ["child"]
    assert store.record(mine.id).state == "submitted"


def test_a_late_finish_still_counts(tmp_path):
    store = open_store(tmp_path / "board.db")
    record = submitted()
    store.submit(record)
    with store._database.write() as connection:
        connection.execute(records.update().values(owner_boot="another boot"))
    assert [r.id for r in store.recover()] == [record.id]
    store.finish(checked(id=record.id))
    assert store.record(record.id).state == "finished"


def test_who_is_gone():
    me = this_process()
    assert is_gone(me) is False
    assert is_gone(dataclasses.replace(me, start=me.start - 1)) is True, "a reused pid"
    assert is_gone(dataclasses.replace(me, boot="another")) is True, "a reboot"
    assert is_gone(dataclasses.replace(me, boot="another", host="another")) is None, "another machine"
    assert is_gone(dataclasses.replace(me, namespace="pid:[1]")) is None, "another container"


@pytest.mark.parametrize(("age_h", "expected"), [(1, 0), (25, 1)])
def test_an_owner_out_of_sight_is_given_a_day(tmp_path, age_h, expected):
    store = open_store(tmp_path / "board.db")
    created = (datetime.now(timezone.utc) - timedelta(hours=age_h)).strftime("%Y-%m-%dT%H:%M:%SZ")
    store.submit(submitted(created=created))
    with store._database.write() as connection:
        connection.execute(records.update().values(owner_namespace="pid:[1]"))
    assert len(store.recover()) == expected


def test_two_processes_submit_at_once(tmp_path):
    database = tmp_path / "board.db"
    workers = [start_worker(database, team, 40) for team in ("acme", "bolt", "core")]
    outputs = [worker.communicate(timeout=60)[0].splitlines(keepends=True) for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    store = open_store(database)
    assert {r.id for r in store.records(limit=None)} == set().union(*(said(o, "finished") for o in outputs))
    assert [len(store.records(team=team)) for team in ("acme", "bolt", "core")] == [40, 40, 40]


def test_a_locked_database_says_what_to_do(tmp_path):
    database = tmp_path / "board.db"
    store = open_store(database, timeout_s=0.2)
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked: another process has been writing to it for longer than 0.2 s"):
        store.submit(submitted())
    assert store.records() == [], "boards can be read meanwhile"
    other.execute("ROLLBACK")
    store.submit(submitted())


def test_a_full_disk_says_what_to_do_and_keeps_what_was_stored(tmp_path):
    store = open_store(tmp_path / "board.db")
    kept = submitted()
    store.submit(kept)
    with store._database.read() as connection:
        pages = connection.exec_driver_sql("pragma page_count").scalar()
        connection.exec_driver_sql(f"pragma max_page_count={pages}")
    with pytest.raises(StoreError, match="is full, so nothing could be stored. Free some space"):
        store.submit(submitted(warnings=("w" * 1000,) * 50))
    assert store.record(kept.id) == kept


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting a small disk needs root")
def test_a_really_full_disk(tmp_path):
    script = f"""
from harness.store import open_store
from harness.errors import StoreError
from tests.store.samples import submitted
store = open_store({str(tmp_path / "small" / "board.db")!r})
try:
    for minute in range(500):
        store.submit(submitted(minute=minute, warnings=("w" * 5000,)))
except StoreError as error:
    print(minute > 2, len(store.records()) == minute, error)
"""
    mount = (
        f"mkdir {tmp_path}/small && mount -t tmpfs -o size=400k none {tmp_path}/small && exec {sys.executable} -c '$S'"
    )
    command = ["unshare", "--mount", "sh", "-c", mount.replace("'$S'", '"$0"'), script]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    if "mount:" in result.stderr or "unshare:" in result.stderr:
        pytest.skip("this machine does not allow mounts")
    assert result.stdout.startswith("True True the disk that holds the board database"), result
