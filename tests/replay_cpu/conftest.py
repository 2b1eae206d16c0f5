from __future__ import annotations

from collections.abc import Iterator

import pytest

from .child import Child


@pytest.fixture(scope="session")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """One process for the whole session: that it survives every hostile request is part of the test."""
    running = Child(tmp_path_factory.mktemp("replay_cpu"))
    yield running
    running.close()
