"""What the verdict on a build that spent its budget says to do."""

from __future__ import annotations

import pytest

from harness.verdict import judge_budget

LOOP, HOST = "Is there an endless loop?", "Is there an endless loop in custom_kernel? Else use fewer"


@pytest.mark.parametrize(
    ("stage", "done", "running", "wall_s", "told"),
    [
        ("trace", {}, ["the import of submission.py"], None, LOOP),
        ("trace", {}, ["a", "b"], None, HOST),
        ("trace", {}, ["a", "b"], 1440.0, LOOP),
        ("trace", {"a": 700.0}, ["b"], None, "Use fewer or simpler configs"),
        ("assemble", {}, ["a"], None, "Use fewer or simpler configs"),
    ],
)
def test_advice(stage: str, done: dict[str, float], running: list[str], wall_s: float | None, told: str) -> None:
    verdict = judge_budget(stage, done, running, ("a", "b"), 720.0, 721.0, wall_s)
    assert f"{len(done)} of 2 shapes done. {told}" in verdict.message
