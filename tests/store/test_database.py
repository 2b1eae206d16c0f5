"""Opening: new, old, newer, foreign, forbidden and damaged databases."""

from __future__ import annotations

import dataclasses
import os
import sqlite3

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from harness.errors import StoreError, UsageError
from harness.store import open_store
from harness.store.failures import explain
from harness.store.schema import HEAD, MIGRATIONS, metadata
from tests.store.samples import passed, submitted


def test_head_is_the_newest_migration():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_migrations_make_the_tables_that_the_code_uses(tmp_path):
    store = open_store(tmp_path / "board.db")
    with store._database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_an_older_database_is_brought_to_this_form_with_its_records(tmp_path):
    """Records from before programs were named by what a GPU executes are pooled by their source, as they were."""
    path = tmp_path / "board.db"
    runs = [passed("acme", 10.0 + n, n, normalised_source_sha256="aa" * 32) for n in range(3)]
    with open_store(path) as store:
        for run in runs:
            store.submit(dataclasses.replace(run, state="submitted", verdict=None, finished=None))
            store.finish(run)
    with sqlite3.connect(path) as connection:
        connection.execute("drop index records_program")
        connection.execute("alter table records drop column program")
        connection.execute("update records set document = json_remove(document, '$.program_sha256')")
        connection.execute("update alembic_version set version_num='0001'")
    with open_store(path) as store:
        assert store.board("chunk_fwd_h", "b200", "closed") == runs
        assert {record.program for record in store.records()} == {"aa" * 32}
        with store._database.read() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_opening_again_keeps_everything(tmp_path):
    path = tmp_path / "new folder" / "a?b%c board.db"
    store = open_store(path)
    store.submit(submitted())
    store.close()
    assert len(open_store(str(path)).records()) == 1
    assert path.exists()


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_a_new_file_is_for_its_owner_only_and_those_beside_it_too(tmp_path, umask):
    before = os.umask(umask)
    try:
        for path, url in ((tmp_path / "a.sqlite", None), (tmp_path / "b.sqlite", f"sqlite:///{tmp_path / 'b.sqlite'}")):
            with open_store(url or path) as store:
                store.submit(submitted())
                modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.glob(f"{path.name}*")}
            assert modes == {path.name + end: 0o600 for end in ("", "-wal", "-shm")}
    finally:
        os.umask(before)


def test_the_mode_of_a_file_that_is_there_is_its_owners_choice(tmp_path):
    path = tmp_path / "records.sqlite"
    path.touch(0o640)
    path.chmod(0o640)
    with open_store(path) as store:
        store.submit(submitted())
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_url_works_as_well_as_a_path(tmp_path):
    open_store(f"sqlite:///{tmp_path}/board.db").submit(submitted())
    assert len(open_store(tmp_path / "board.db").records()) == 1


def test_a_newer_database_is_refused_and_names_its_version(tmp_path):
    path = tmp_path / "board.db"
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("update alembic_version set version_num='0042'")
        connection.execute("update store_facts set value='3.1.0' where name='written_by'")
    message = r"was made by harness 3.1.0 \(revision 0042\), and this is harness .* Update the harness"
    with pytest.raises(StoreError, match=message):
        open_store(path)


def test_an_unmigrated_database_is_left_alone_when_asked(tmp_path):
    with pytest.raises(StoreError, match="is not of this version's form: migrate it first"):
        open_store(tmp_path / "board.db", migrate=False)


def test_a_foreign_database_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("create table songs (name text)")
    with pytest.raises(StoreError, match=r"holds other tables \(songs\): it is not a board database"):
        open_store(tmp_path / "other.db")


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "board.db").write_text("hello " * 1000)
    with pytest.raises(StoreError, match="is not a board database, or it is damaged. Move it away"):
        open_store(tmp_path / "board.db")


def test_a_folder_in_the_way_is_said(tmp_path):
    (tmp_path / "board.db").mkdir()
    with pytest.raises(StoreError, match="cannot be opened. Its folder must exist"):
        open_store(tmp_path / "board.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"the folder of the board database .* cannot be made"):
        open_store(tmp_path / "file" / "board.db")


@pytest.mark.parametrize("url", ["nonsense://x", "postgresql+nodriver://user:secret@host/db", "sqlite://host/x:y:z"])
def test_an_unusable_url_is_a_usage_error(url):
    with pytest.raises(UsageError, match="the database URL cannot be used") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("attempt to write a readonly database", "cannot be written to. Give this user write access"),
        ("disk I/O error", "the disk is failing, full, or over its quota"),
        ("something new", "refused: something new"),
    ],
)
def test_other_failures_are_explained(text, meaning):
    assert meaning in explain(text, "board.db", 1.0)
