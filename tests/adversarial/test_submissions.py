"""Every submission under submissions/ gets the verdict that it declares, and no time that an honest kernel can't have.

Run for real, through every stage on a CPU; see `pipeline`. By heading, so that two workers share the work.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.sandbox import Level, best_level, why_not
from tests.adversarial.catalogue import HEADINGS, load_catalogue
from tests.adversarial.pipeline import Outcome, Pipeline
from tests.adversarial.table import HONEST, effect_on_score, is_right, render, rows

CATALOGUE = load_catalogue()


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    if best_level().level is Level.NONE:
        pytest.skip("no sandbox here that would hold an attack")
    with Pipeline() as running:
        yield running


@pytest.fixture(scope="module")
def honest(pipeline: Pipeline) -> Outcome:
    return pipeline.judge([attack for attack in CATALOGUE if attack.name == HONEST])[HONEST]


@pytest.mark.parametrize("heading", HEADINGS)
def test_verdicts(pipeline: Pipeline, honest: Outcome, heading: str) -> None:
    attacks = [attack for attack in CATALOGUE if attack.heading == heading]
    outcomes = pipeline.judge(attacks)
    wrong = {a.name: outcomes[a.name] for a in attacks if not is_right(a, outcomes[a.name], honest)}
    assert not wrong, wrong


def test_a_time_that_the_honest_kernel_could_not_have_is_seen(pipeline: Pipeline, honest: Outcome) -> None:
    """The check of plans is one: a look-alike's plan is not taken for the honest kernel's."""
    (attack,) = (attack for attack in CATALOGUE if attack.name == "checked_two_kernels")
    outcome = pipeline.judge([attack])[attack.name]
    assert effect_on_score(attack, outcome, honest) == "timed: 2 launches, 1 host operations"
    assert is_right(attack, outcome, honest)
    (disguised,) = (a for a in CATALOGUE if a.name == "checked_side_stream")
    assert not is_right(disguised, outcome, honest)


def test_the_table(pipeline: Pipeline, honest: Outcome) -> None:
    (attack,) = (attack for attack in CATALOGUE if attack.name == HONEST)
    outcomes = {HONEST: honest}
    table = list(rows((attack,), outcomes))
    assert table[0] == (
        "Honest look-alikes",
        HONEST,
        "CHECKED",
        "checked",
        "judge",
        "none: the honest kernel's plan",
        "",
    )
    text = render(table)
    assert "\nOn a GPU (NVIDIA H200)\n" in text
    assert "illegal_address" in text


@pytest.mark.slow
def test_the_host_withstands_without_namespaces_too() -> None:
    if reason := why_not(Level.RESTRICTED):
        pytest.skip(reason)
    attacks = [attack for attack in CATALOGUE if attack.heading == "host" or attack.name == HONEST]
    with Pipeline(Level.RESTRICTED) as pipeline:
        outcomes = pipeline.judge(attacks)
    assert not {a.name: outcomes[a.name] for a in attacks if not is_right(a, outcomes[a.name], outcomes[HONEST])}
