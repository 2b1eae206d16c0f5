"""Every attack under attacks/ on a live service: none of them gains anything."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from pathlib import Path

import pytest

from harness.store.database import Database
from tests.service.arena import Arena

FOLDER = Path(__file__).with_name("attacks")
NAMES = sorted(path.stem for path in FOLDER.glob("[a-z]*_*.py"))
MODULES = {name: importlib.import_module(f"tests.service.attacks.{name}") for name in NAMES}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def arena(request, tmp_path_factory):
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("arena") / "service.sqlite"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        url = f"sqlite:///{path}"
    else:
        cluster = request.getfixturevalue("cluster")
        url = cluster.url(cluster.make_database(request.getfixturevalue("postgresql_template")))
    database = Database(url, 15.0, 40)
    arena = Arena(database)
    yield arena
    arena.stop()
    database.close()


@pytest.mark.parametrize("name", [pytest.param(name, marks=getattr(MODULES[name], "MARKED", ())) for name in NAMES])
def test_it_gains_nothing(arena, name):
    arena.drain()
    assert MODULES[name].attack(arena), "what came of it is told"


def test_there_are_enough():
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_is(name):
    assert re.fullmatch(r"(refused|neutral)_[a-z0-9_]+", name)
    for part in ("How", "Seen", "Defence"):
        assert re.search(rf"\b{part}:\s", inspect.getdoc(MODULES[name])), f"the docstring does not say: {part}"
