"""The table of the suite: attack -> verdict, reason, stage, effect on the score.

On a CPU the effect is what is known of the plan, which is what a GPU would time: none was made, or it is the honest
kernel's to the last argument, or it is another one whose every step is timed. Attacks on the GPU's runner are listed
with what they got when they were last run on one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.adversarial.catalogue import HEADINGS, Attack
from tests.adversarial.pipeline import Outcome, work_of

HONEST = "checked_plain"
_GPU_RUN = Path(__file__).parents[2] / "bench" / "gpu" / "last.json"


def effect_on_score(attack: Attack, outcome: Outcome, honest: Outcome) -> str:
    """Return what the attack changes of a score: "none: ..." or "timed: ..."."""
    if outcome.kind not in ("CHECKED", "BUILT"):
        return "none: refused"
    if outcome.kind == "BUILT":
        return "none: unchecked here, a GPU judges"
    shapes = outcome.plans.keys() & honest.plans.keys()
    if outcome.plans and all(work_of(outcome.plans[s]) == work_of(honest.plans[s]) for s in shapes):
        return "none: the honest kernel's plan"
    plan = max(outcome.plans.values(), key=lambda plan: len(plan.steps))
    return f"timed: {len(plan.launches)} launches, {len(plan.steps) - len(plan.launches)} host operations"


def is_right(attack: Attack, outcome: Outcome, honest: Outcome) -> bool:
    """Tell whether an attack got the verdict that it declares, and no time that the honest kernel could not have."""
    if (outcome.kind, outcome.reason) != (attack.kind, attack.reason):
        return False
    return attack.own_plan or effect_on_score(attack, outcome, honest).startswith("none")


def rows(attacks: tuple[Attack, ...], outcomes: Mapping[str, Outcome]) -> Iterator[tuple[str, ...]]:
    """Yield the table's rows: heading, name, verdict, reason, stage, effect, and "" or what is wrong."""
    for attack in attacks:
        outcome = outcomes[attack.name]
        wrong = "" if is_right(attack, outcome, outcomes[HONEST]) else f"WRONG: {attack.kind} {attack.reason} is right"
        effect = effect_on_score(attack, outcome, outcomes[HONEST])
        yield HEADINGS[attack.heading], attack.name, outcome.kind, outcome.reason, outcome.stage, effect, wrong
    yield from _gpu_rows()


def _gpu_rows() -> Iterator[tuple[str, ...]]:
    """What each attack of tests/replay_gpu got on a GPU: the first case that did not pass, or how it was timed."""
    document = json.loads(_GPU_RUN.read_text())
    heading = f"On a GPU ({document['environment'][0]['machine']['gpu']})"
    for name, found in document["attacks"].items():
        status, reason = found["got"]
        times = ", ".join(f"{time:g}" for time in found["times_us"])
        effect = "none: refused" if status != "passed" else f"timed: {times} us"
        yield heading, name, status, reason, "replay", effect, "" if found["as expected"] else "WRONG"


def render(table: list[tuple[str, ...]]) -> str:
    """Return the table as text, a line for each row."""
    widths = [max(len(row[column]) for row in table) for column in range(1, 7)]
    lines, heading = [], ""
    for row in table:
        if row[0] != heading:
            heading = row[0]
            lines.append(f"\n{heading}")
        lines.append("  ".join(text.ljust(width) for text, width in zip(row[1:], widths, strict=True)).rstrip())
    return "\n".join(lines)
