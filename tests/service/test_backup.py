"""A backup holds everything of one moment, and either database can be filled from it."""

from __future__ import annotations

import gzip
import shutil
import stat

import pytest
from sqlalchemy import func, select

from harness.errors import UsageError
from harness.service import form, organising
from harness.service.acts import log_act
from harness.service.backup import back_up, restore
from harness.service.entries import BoardKey
from harness.service.job import QUEUED, load_job
from harness.service.reading import load_board
from harness.service.schema import jobs, sources
from harness.service.teams import identify
from harness.store.database import Database
from tests.service.event import START_S, finish, join, lease, outcome, submit

KEY = BoardKey("scale", "b200", "closed")


@pytest.fixture
def filled(database):
    join(database, "acme", "bolt")
    for score_us, team in ((5.0, "acme"), (9.0, "bolt")):
        submit(database, team)
        held = lease(database)
        assert finish(database, held, outcome(held.job, score_us))
    submit(database)
    lease(database)
    with database.write() as connection:
        log_act(connection, "ada", "freeze", "scale", "trying", now_s=START_S)
    return database


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request, tmp_path):
    """Another database, of either kind."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "other.sqlite")
        database = Database(tmp_path / "other.sqlite", 15.0)
    else:
        cluster = request.getfixturevalue("cluster")
        name = cluster.make_database(request.getfixturevalue("postgresql_template"))
        database = Database(cluster.url(name), 15.0)
    yield database
    database.close()


def test_everything_comes_back(filled, empty, tmp_path):
    with filled.write() as connection:
        _, token = organising.give_token(connection, "ada", START_S, team="acme", days=1)
    path = tmp_path / "season.backup"
    rows = back_up(filled, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    # What comes later is not in it.
    submit(filled, "bolt")
    assert restore(empty, path) == rows
    with filled.read() as before, empty.read() as after:
        assert load_board(after, KEY) == load_board(before, KEY)
        assert after.execute(select(func.count()).select_from(jobs)).scalar() == 3
        kept = after.execute(select(sources)).all()
        assert len(kept) == 3
        assert set(kept) < set(before.execute(select(sources)).all())
        held = before.execute(select(jobs.c.id).where(jobs.c.state == "running")).scalar()
        assert load_job(after, held).state == QUEUED, "nobody works on it there"
        assert load_job(after, held).queued_s != load_job(before, held).queued_s, "it waits from now on"
        assert identify(after, f"Bearer {token}", START_S).team == "acme"
    with empty.write() as connection:
        assert log_act(connection, "ada", "thaw", "scale", "done", now_s=START_S) == 3, "the log goes on"
    assert lease(empty) is not None


def test_a_backup_is_of_one_moment_though_others_write(filled, tmp_path, monkeypatch):
    """A submission that arrives while the backup is written is in all of its tables or in none."""
    from harness.service import backup

    written = backup._write

    def disturbed(file, document):
        if isinstance(document, dict) and document.get("table") == "teams":
            monkeypatch.setattr(backup, "_write", written)
            submit(filled, "bolt")
        written(file, document)

    monkeypatch.setattr(backup, "_write", disturbed)
    back_up(filled, tmp_path / "one")
    other = Database(tmp_path / "restored.sqlite", 15.0)
    form.prepare(other, migrate=True)
    restore(other, tmp_path / "one")
    with other.read() as connection:
        missing = select(jobs.c.id).where(jobs.c.source_sha256.not_in(select(sources.c.sha256)))
        assert connection.execute(missing).all() == []
        assert connection.execute(select(func.count()).select_from(jobs)).scalar() == 3
    other.close()


def test_what_is_no_backup_is_refused(filled, empty, tmp_path):
    path = tmp_path / "season.backup"
    back_up(filled, path)
    with pytest.raises(UsageError, match="is there already: name another file"):
        back_up(filled, path)
    with pytest.raises(UsageError, match="cannot be written to .*: No such file"):
        back_up(filled, tmp_path / "no folder" / "x")
    with pytest.raises(UsageError, match="is not empty: restore into a new one"):
        restore(filled, path)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    for broken, message in (
        (lines[:-1], "is not a whole backup: its end is missing"),
        (lines[:-4] + lines[-1:], "is not a whole backup"),
        ([b"{}\n"], "it has no header that this version reads"),
        ([lines[0].replace(form.HEAD.encode(), b"0000"), *lines[1:]], "of another form: restore it with that version"),
    ):
        (tmp_path / "broken").write_bytes(gzip.compress(b"".join(broken)))
        with pytest.raises(UsageError, match=message):
            restore(empty, tmp_path / "broken")
    (tmp_path / "broken").write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UsageError, match="is not a whole backup"):
        restore(empty, tmp_path / "broken")
    with empty.read() as connection:
        assert connection.execute(select(func.count()).select_from(jobs)).scalar() == 0
