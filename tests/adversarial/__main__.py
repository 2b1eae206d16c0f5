"""`python -m tests.adversarial [HEADING or NAME ...]`: run the suite on this machine's CPU and print its table."""

from __future__ import annotations

import sys

from tests.adversarial.catalogue import load_catalogue
from tests.adversarial.pipeline import Pipeline
from tests.adversarial.table import HONEST, render, rows


def main(wanted: list[str]) -> int:
    attacks = tuple(
        attack
        for attack in load_catalogue()
        if not wanted or {attack.heading, attack.name} & set(wanted) or attack.name == HONEST
    )
    with Pipeline() as pipeline:
        outcomes = pipeline.judge(attacks)
        level = pipeline.level
    table = list(rows(attacks, outcomes))
    print(render(table))
    wrong, honest = sum(bool(row[-1]) for row in table), sum(attack.is_honest for attack in attacks)
    print(f"\n{len(attacks) - honest} attacks, {honest} honest look-alikes, {wrong} wrong; sandbox level {level}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
