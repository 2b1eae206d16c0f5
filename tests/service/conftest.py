"""Both databases for every test that takes `database`, empty and of today's form."""

from __future__ import annotations

import shutil

import pytest

from harness.service import form
from harness.store.database import Database
from tests.service.cluster import Cluster, find_binaries
from tests.service.event import LIMITS
from tests.service.live import Live


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    path = tmp_path_factory.mktemp("service") / "template.sqlite"
    database = Database(path, 15.0)
    form.prepare(database, migrate=True)
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return path


@pytest.fixture(scope="session")
def cluster():
    if find_binaries() is None:
        pytest.skip("PostgreSQL is not installed (Debian's package: postgresql)")
    cluster = Cluster()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def postgresql_template(cluster):
    name = cluster.make_database()
    database = Database(cluster.url(name), 15.0)
    form.prepare(database, migrate=True)
    database.close()
    return name


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path):
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "service.sqlite")
        yield f"sqlite:///{tmp_path / 'service.sqlite'}"
        return
    cluster = request.getfixturevalue("cluster")
    name = cluster.make_database(request.getfixturevalue("postgresql_template"))
    yield cluster.url(name)
    cluster.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(database_url):
    database = Database(database_url, 15.0)
    yield database
    database.close()


@pytest.fixture
def limits():
    """Of a live service; a module that tries them has its own."""
    return LIMITS


@pytest.fixture
def live(database, limits):
    """A service that answers, with everybody who uses it admitted."""
    live = Live(database, limits)
    live.admit()
    yield live
    live.stop()
