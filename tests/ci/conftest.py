"""A competition of its own for each test."""

import shutil

import pytest

from tests.ci.repository import Competition, make_origin


@pytest.fixture(scope="session")
def origin(tmp_path_factory):
    return make_origin(tmp_path_factory.mktemp("competition") / "origin")


@pytest.fixture
def competition(origin, tmp_path):
    shutil.copytree(origin, tmp_path / "origin")
    return Competition(tmp_path / "origin", tmp_path)
