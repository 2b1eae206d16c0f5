"""Fixtures of the tests that need a GPU: the node's file, and the described GPU that this machine has."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def gpu_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The node's program in one file, as it is sent to a GPU machine."""
    from harness.replay.node.pack import build_node

    path = tmp_path_factory.mktemp("node") / "node.pyz"
    build_node(path)
    return path


@pytest.fixture(scope="session")
def gpu_target() -> str:
    """The target to build for here; without one the test is skipped."""
    from harness.engine.local_gpus import find_local_gpu

    gpu = find_local_gpu()
    name = next((name for name in ("b200", "h200", "h100") if gpu and name in gpu.name.lower()), None)
    if name is None:
        pytest.skip(f"no described target for {gpu}")
    return name
