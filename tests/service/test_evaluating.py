"""Who evaluates: what a machine must have before strangers' code runs on it."""

from __future__ import annotations

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level, LevelReport
from harness.service.evaluating import want_sandbox
from harness.spec import load_season
from tests.service.event import WORKSPACE

WHY = "bubblewrap is not installed: apt install bubblewrap"


@pytest.mark.parametrize(
    ("asked", "found", "least"),
    [("strict", "restricted", "strict"), ("strict", "none", "strict"), ("none", "none", "restricted")],
)
def test_a_machine_whose_sandbox_is_too_weak_runs_nothing(asked, found, least):
    season = load_season(WORKSPACE).model_copy(update={"sandbox": asked})
    with pytest.raises(SandboxError) as refused:
        want_sandbox(season, LevelReport(Level(found), (WHY,)))
    told = f"at sandbox level {least} at least, and this machine has {found}: {WHY}"
    assert str(refused.value) == f"a service runs strangers' code {told}"


@pytest.mark.parametrize(
    ("asked", "found"),
    [("strict", "strict"), ("restricted", "strict"), ("restricted", "restricted"), ("none", "restricted")],
)
def test_a_machine_whose_sandbox_is_enough_runs_at_what_it_has(asked, found):
    season = load_season(WORKSPACE).model_copy(update={"sandbox": asked})
    assert want_sandbox(season, LevelReport(Level(found))) is Level(found)
