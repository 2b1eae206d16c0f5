"""The service's form of a database: made, checked at start, guarded."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import delete, text, update

from harness.errors import StoreError
from harness.service import form, schema
from harness.service.acts import list_acts, log_act, newest_act
from harness.store import schema as store_schema
from harness.store.database import Database


def test_head_is_the_newest_migration():
    config = Config()
    config.set_main_option("script_location", str(form.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == form.HEAD


def test_migrations_make_the_tables_that_the_code_uses(database):
    with database.read() as connection:
        mine = set(schema.metadata.tables)
        only = {"include_name": lambda name, kind, _: kind != "table" or name in mine, "version_table": form.VERSIONS}
        assert compare_metadata(MigrationContext.configure(connection, opts=only), schema.metadata) == []


def test_a_new_file_is_made_without_being_asked(tmp_path):
    database = Database(tmp_path / "service.sqlite", 15.0)
    form.prepare(database, migrate=False)
    with database.read() as connection:
        assert form.stored_revision(connection) == form.HEAD


def test_an_empty_postgresql_says_the_command(cluster):
    database = Database(cluster.url(cluster.make_database()), 15.0)
    with pytest.raises(StoreError, match="is not set up, and this version needs .*: run `harness admin migrate`"):
        form.prepare(database, migrate=False)
    form.prepare(database, migrate=True)
    form.prepare(database, migrate=False)
    database.close()


def test_local_records_are_not_served_unasked(tmp_path):
    database = Database(tmp_path / "records.sqlite", 15.0)
    database.prepare(migrate=True)
    with pytest.raises(StoreError, match="is not set up, and this version needs"):
        form.prepare(database, migrate=False)


def test_another_revision_is_told(database):
    with database.write() as connection:
        connection.execute(text(f"update {form.VERSIONS} set version_num = '0042'"))
    with pytest.raises(StoreError, match="has revision 0042, this version knows"):
        form.prepare(database, migrate=True)


def test_older_records_say_the_command_too(database):
    with database.write() as connection:
        connection.execute(text("update alembic_version set version_num = '0001'"))
    told = f"is at revision 0001, and this version needs {store_schema.HEAD}: run `harness admin migrate`, then start"
    with pytest.raises(StoreError, match=told):
        form.prepare(database, migrate=False)
    with database.write() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(StoreError, match=r"\(revision 9999\), and this is harness .* Update the harness"):
        form.prepare(database, migrate=False)


def test_the_log_of_acts_cannot_be_changed(database):
    with database.write() as connection:
        assert log_act(connection, "ada", "freeze", "softmax", "a fault", now_s=1.0) == 1
        assert log_act(connection, "ada", "thaw", "softmax", "mended", now_s=2.0, details={"by": "ada"}) == 2
    for change in (update(schema.acts).values(reason="none"), delete(schema.acts)):
        with pytest.raises(StoreError, match="append-only"), database.write() as connection:
            connection.execute(change)
    with database.read() as connection:
        assert [(act.act, act.reason) for act in list_acts(connection)] == [("thaw", "mended"), ("freeze", "a fault")]
        assert [act.id for act in list_acts(connection, before=2)] == [1]
        assert newest_act(connection, "thaw", "softmax").details == {"by": "ada"}
        assert newest_act(connection, "thaw", "scale") is None
