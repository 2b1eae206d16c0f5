"""The suite is complete in form: headings, names, and what each file says of itself."""

from __future__ import annotations

import re

import pytest

from harness.verdict import Kind
from tests.adversarial.catalogue import HEADINGS, Attack, load_catalogue

CATALOGUE = load_catalogue()
ATTACKS = [attack for attack in CATALOGUE if not attack.is_honest]


def test_there_are_enough() -> None:
    assert len(ATTACKS) >= 80
    assert len(CATALOGUE) - len(ATTACKS) >= 20
    assert {attack.heading for attack in CATALOGUE} == set(HEADINGS)
    assert len({attack.name for attack in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("attack", CATALOGUE, ids=lambda attack: attack.name)
def test_names_and_docstrings(attack: Attack) -> None:
    assert attack.kind == "REFUSED" or attack.kind in Kind.__members__
    assert re.fullmatch(rf"{attack.kind.lower()}_[a-z0-9_]+", attack.name)
    assert attack.docstring.strip(), "what it is goes into the docstring"
    if attack.is_honest:
        assert attack.kind == "CHECKED"
        return
    for part in ("How", "Seen", "Defence"):
        assert re.search(rf"\b{part}\b|\b{part.lower()}\b", attack.docstring), f"the docstring does not say: {part}"
