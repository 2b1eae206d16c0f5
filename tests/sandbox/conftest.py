from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.sandbox import Level, remove_tree, why_not
from tests.sandbox.attacks import (
    Attack,
    OrdinaryUser,
    Outcome,
    carry_out,
    left_behind,
    mounts_left_behind,
    ordinary_python,
)

Carry = Callable[..., Outcome]


@pytest.fixture(params=["strict", "restricted"], scope="session")
def level(request: pytest.FixtureRequest) -> str:
    reason = why_not(Level(request.param))
    if reason:
        pytest.skip(reason)
    return str(request.param)


@pytest.fixture(params=list(Level))
def any_level(request: pytest.FixtureRequest) -> str:
    if reason := why_not(request.param):
        pytest.skip(reason)
    return str(request.param)


@pytest.fixture
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sandbox-test-"))
    yield folder
    remove_tree(folder)


@pytest.fixture(scope="session")
def ordinary_user() -> Iterator[OrdinaryUser]:
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    python = ordinary_python()
    if python is None:
        pytest.skip("no Python 3.10 or newer here that an ordinary user can run")
    user = OrdinaryUser(python)
    yield user
    user.kill()


@pytest.fixture(params=["as we are", "as an ordinary user"], scope="session")
def carry(request: pytest.FixtureRequest, level: str) -> Carry:
    """Carries out an attack at the level, and checks that the machine is as it was.

    No process of it is left, and so no namespace that nothing else holds: no mount pins one; and no folder.
    """
    carry_it_out = carry_out
    if request.param == "as an ordinary user":
        carry_it_out = request.getfixturevalue("ordinary_user").carry_out

    def carry_out_and_look(program: str, **fields: object) -> Outcome:
        mounts = mounts_left_behind()
        outcome = carry_it_out(Attack(program, level, **fields))  # type: ignore[arg-type]
        assert left_behind() == []
        assert mounts_left_behind() == mounts
        assert not Path(outcome.scratch).exists()
        return outcome

    return carry_out_and_look
