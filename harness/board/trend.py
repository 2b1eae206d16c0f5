"""The best score over time, as the geometry of a small chart. Pure; the template draws it.

Coordinates are percentages of the chart's box, so the chart can be stretched to any width; its labels are text of the
page, which is not stretched with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from harness.board.text import microseconds, moment
from harness.store.record import Record

LOGARITHMIC_ABOVE = 4.0
"""From this ratio of the slowest to the fastest score on, equal factors are equal heights."""

MARGIN = 6.0


@dataclass(frozen=True)
class Dot:
    """One scored record; `best` if it was the fastest so far."""

    x: float
    y: float
    record: Record
    best: bool


@dataclass(frozen=True)
class Trend:
    """A chart: dots, the line of the best so far, and the labels of its axes.

    Attributes:
        line: an SVG path.
        labels_us: the scores at the top, in the middle and at the bottom.
        span: the first and the last moment.
    """

    line: str
    dots: tuple[Dot, ...]
    labels_us: tuple[str, str, str]
    span: tuple[str, str]
    logarithmic: bool


def plot_trend(records: Sequence[Record]) -> Trend | None:
    """Place the scored ones of some records on a chart; None if there are fewer than two."""
    scored = sorted((record for record in records if record.scored), key=lambda record: record.id)
    if len(scored) < 2:
        return None
    times_s = _spread([_moment_s(record) for record in scored])
    scores_us = [record.score_us or 0.0 for record in scored]
    low_us, high_us = min(scores_us), max(scores_us)
    logarithmic = high_us / low_us > LOGARITHMIC_ABOVE
    heights = _spread([math.log(score) if logarithmic else score for score in scores_us])
    best = [score <= fastest for score, fastest in zip(scores_us, accumulate(scores_us, min), strict=True)]
    dots = tuple(Dot(x, 100 - y, record, b) for x, y, record, b in zip(times_s, heights, scored, best, strict=True))
    middle_us = math.sqrt(low_us * high_us) if logarithmic else (low_us + high_us) / 2
    labels_us = (microseconds(high_us), microseconds(middle_us), microseconds(low_us))
    span = (moment(scored[0].created), moment(scored[-1].created))
    return Trend(_draw_steps(dots), dots, labels_us, span, logarithmic)


def _draw_steps(dots: Sequence[Dot]) -> str:
    first, *rest = dots
    line = f"M{first.x:.2f} {first.y:.2f}"
    for dot in rest:
        if dot.best:
            line += f"H{dot.x:.2f}V{dot.y:.2f}"
    return f"{line}H100"


def _spread(values: Sequence[float]) -> list[float]:
    """Map values to the box, the lowest and highest a margin away from its edges."""
    low, high = min(values), max(values)
    if high == low:
        return [50.0 for _ in values]
    return [MARGIN + (100 - 2 * MARGIN) * (value - low) / (high - low) for value in values]


def _moment_s(record: Record) -> float:
    return datetime.fromisoformat(record.created.replace("Z", "+00:00")).timestamp()
