"""An artifact's address: whatever a build depends on changes it, and the order of the cases does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.case import load_cases
from harness.engine.request import BuildRequest
from harness.sandbox import Level
from harness.spec import load_season
from harness.spec.problem import load_problem
from harness.spec.season import AdvancedControls
from harness.submission import load_submission
from harness.target import load_target
from harness.toolchain import installed_versions

WORKSPACE = Path(__file__).parents[1] / "workspace"
SUBMISSION = WORKSPACE / "submissions" / "starter" / "scale" / "submission.py"
CONTROLS = AdvancedControls(id="fast", path="/opt/fast.bin", file=Path("fast.bin"), sha256="0" * 64)


@pytest.fixture
def request_():
    problem = load_problem(WORKSPACE / "problems" / "scale")
    return BuildRequest(
        submission=load_submission(SUBMISSION, "acme"),
        problem=problem,
        season=load_season(WORKSPACE),
        target=load_target("b200"),
        division="closed",
        cases=tuple(load_cases(problem)),
        portable=False,
        level=Level.STRICT,
        toolchain=installed_versions(),
    )


def with_controls(request, **change):
    controls = (CONTROLS.model_copy(update=change),)
    return replace(request, season=request.season.model_copy(update={"advanced_controls": controls}))


CHANGES = {
    "team": lambda r: replace(r, submission=load_submission(SUBMISSION, "other")),
    "source": lambda r: replace(r, submission=replace(r.submission, files=(("submission.py", b"x = 1\n"),))),
    "problem": lambda r: replace(r, problem=r.problem.model_copy(update={"version": "0" * 64})),
    "target": lambda r: replace(r, target=load_target("h200")),
    "a property of the target": lambda r: replace(r, target=replace(r.target, multiprocessors=1)),
    "division": lambda r: replace(r, division="open"),
    "portable": lambda r: replace(r, portable=True),
    "sandbox": lambda r: replace(r, level=Level.RESTRICTED),
    "toolchain": lambda r: replace(r, toolchain={**r.toolchain, "triton": "0.0.1"}),
    "shapes": lambda r: replace(r, cases=r.cases[:1]),
    "controls": lambda r: with_controls(r),
    "what the controls hold": lambda r: with_controls(r, sha256="1" * 64),
    "where the controls are": lambda r: with_controls(r, path="/opt/other.bin"),
}


def test_each_change_has_an_address_of_its_own(request_):
    keys = [request_.key, *(change(request_).key for change in CHANGES.values())]
    assert len(set(keys)) == len(CHANGES) + 1, dict(zip(["none", *CHANGES], keys, strict=True))


def test_the_order_of_cases_and_the_path_of_controls_on_this_machine_do_not_matter(request_):
    assert replace(request_, cases=request_.cases[::-1]).key == request_.key
    assert with_controls(request_, file=Path("elsewhere.bin")).key == with_controls(request_).key
