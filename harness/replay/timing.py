"""From the samples of a case to its time: pure statistics, no GPU.

A sample is the span of one call, in microseconds, on inputs never seen before and a cold L2. Nothing is subtracted and
nothing is left out. Calls are made in several slots, each with data and code at addresses of its own, each equally
often: where things lie moves a kernel's time by a percent or two, and so do they from process to process. Rules:

- the time: the mean of the slots' medians. A median over all slots would jump between theirs from run to run;
- how many samples: `samples_needed`, once, from the spread of the first ones within their slots;
- its interval: at 95%, widened by what times of fresh processes differ by;
- UNSTABLE: time and mean are further apart than `MAX_MEAN_GAP` (some calls did others' work), or the witness
  disagrees with the score clock;
- IMPLAUSIBLE: faster than the floor.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

SLOTS = 4
FIRST_SAMPLES = 40  # this and the next: multiples of SLOTS
MAX_SAMPLES = 200
PRECISION = 0.003  # wanted: half width of the time's interval, relative, of a kernel of LONG_US and more
SHORT_PRECISION, LONG_US = 0.006, 20.0  # a shorter one's: this, or what LONG_US would have in microseconds
MAX_MEAN_GAP = 0.10
MEAN_GAP_US = 0.5  # clock ticks and single outliers of short kernels
PROCESS_SPREAD = 0.005  # relative, between medians of fresh processes; measured, see bench/gpu
TICK_US = 0.032  # of the score clock

# Events round a graph read 2.3 to 2.7 us more than the span of one node (H200; bench/gpu): twice that is no doubt yet.
WITNESS_BASE_US = 6.0
WITNESS_NODE_US = 2.0
WITNESS_RELATIVE = 0.05

_Z = 1.96
_MAD_TO_SIGMA = 1.4826
_MEDIAN_EFFICIENCY = 1.2533  # standard error of a median over that of a mean, for normal samples
_FEW = 0.8  # n / (n - 0.8): Croux and Rousseeuw, 1992


@dataclass(frozen=True)
class Timing:
    """The time of one case, in microseconds.

    Attributes:
        median_us: the time, the mean of the slots' medians.
        low_us, high_us: its interval, the spread between processes included.
        witness_us: the same by events.
        fault: "" or why it can't be ranked ("mean_gap", "witness").
    """

    median_us: float
    mean_us: float
    low_us: float
    high_us: float
    p10_us: float
    p90_us: float
    samples: int
    witness_us: float
    fault: str = ""


def samples_needed(first: Sequence[float], slots: Sequence[int] = ()) -> int:
    """Return how many samples a case needs, from its first ones: a multiple of the number of slots.

    The standard error of medians falls with the root of the number; the spread is measured robustly, so that one
    outlier buys nobody more samples. No more precision is asked for than the clock's tick has.
    """
    middle, count = time_us(first, slots), len(set(slots)) or 1
    wanted_us = max(TICK_US, PRECISION * middle, min(SHORT_PRECISION * middle, PRECISION * LONG_US))
    needed = len(first) * (_half_width(first, slots) / wanted_us) ** 2
    return max(len(first), min(MAX_SAMPLES, math.ceil(needed / count) * count))


def slot_order(chance: random.Random) -> Iterator[int]:
    """Yield the slots of calls for ever: each equally often, in an order that nobody can foresee."""
    while True:
        yield from chance.sample(range(SLOTS), SLOTS)


def summarise(spans_us: Sequence[float], witness_us: Sequence[float], nodes: int, slots: Sequence[int] = ()) -> Timing:
    """Return a case's time.

    Args:
        spans_us: the score clock's samples.
        witness_us: the events' samples of the same calls.
        nodes: how many nodes the call's graph has; each adds to what events see.
        slots: where each call was made; none for all in one.

    Raises:
        ValueError: there are no samples, or a sample is not a positive number.
    """
    if not spans_us or not all(math.isfinite(value) and value > 0 for value in (*spans_us, *witness_us)):
        raise ValueError("samples must be positive numbers")
    ordered = sorted(spans_us)
    middle, mean, witness = time_us(spans_us, slots), fmean(ordered), time_us(witness_us, slots)
    low, high = time_interval(spans_us, slots)
    return Timing(
        median_us=middle,
        mean_us=mean,
        low_us=low,
        high_us=high,
        p10_us=quantile(ordered, 0.1),
        p90_us=quantile(ordered, 0.9),
        samples=len(ordered),
        witness_us=witness,
        fault=_find_fault(middle, mean, witness, nodes),
    )


def time_us(spans_us: Sequence[float], slots: Sequence[int] = ()) -> float:
    """Return the time that samples stand for: the mean of their slots' medians."""
    return fmean(median_us(group) for group in _by_slot(spans_us, slots))


def time_interval(spans_us: Sequence[float], slots: Sequence[int] = ()) -> tuple[float, float]:
    """Return the time's interval at 95%, the spread between processes included.

    Of one slot by order statistics; of several by the standard errors of their medians, since a slot has too few
    samples for those.
    """
    middle = time_us(spans_us, slots)
    between = max(PROCESS_SPREAD * middle, TICK_US)
    if len(set(slots)) <= 1:
        low, high = median_interval(sorted(spans_us))
        return low - between, high + between
    half = _half_width(spans_us, slots)
    return middle - half - between, middle + half + between


def _by_slot(spans_us: Sequence[float], slots: Sequence[int]) -> list[list[float]]:
    groups: dict[int, list[float]] = defaultdict(list)
    for span, slot in zip(spans_us, slots or [0] * len(spans_us), strict=True):
        groups[slot].append(span)
    return list(groups.values())


def _half_width(spans_us: Sequence[float], slots: Sequence[int]) -> float:
    """Return half the width of the 95% interval of the mean of slots' medians, which are independent of each other."""
    groups = _by_slot(spans_us, slots)
    return _Z * math.sqrt(sum(_standard_error(group) ** 2 for group in groups)) / len(groups)


def _standard_error(group: Sequence[float]) -> float:
    """Return that of a median, from the median deviation: no outlier widens it."""
    middle, count = median_us(group), len(group)
    deviation = median(abs(span - middle) for span in group) * count / (count - _FEW)
    return _MEDIAN_EFFICIENCY * _MAD_TO_SIGMA * deviation / math.sqrt(count)


def _find_fault(middle: float, mean: float, witness: float, nodes: int) -> str:
    if abs(mean - middle) > max(MAX_MEAN_GAP * middle, MEAN_GAP_US):
        return "mean_gap"
    # Events see the launch too, never less than the span; how much more was measured.
    allowed = WITNESS_BASE_US + WITNESS_NODE_US * (nodes - 1) + WITNESS_RELATIVE * middle
    return "" if -TICK_US - 0.02 * middle <= witness - middle <= allowed else "witness"


def median_us(spans_us: Iterable[float]) -> float:
    """Return the median of samples that a ticking clock rounded: interpolated within the tick that holds it.

    Without that, the median of a short kernel jumps by whole ticks, which are a percent of 3 us.
    """
    spans = list(spans_us)
    middle = median(spans)
    start, half = middle - TICK_US / 2, TICK_US / 2 + 1e-6  # samples are whole nanoseconds: both edges belong to it
    below = sum(span < middle - half for span in spans)
    within = sum(abs(span - middle) <= half for span in spans)
    return start + TICK_US * (len(spans) / 2 - below) / within if within else middle


def median_interval(ordered: Sequence[float]) -> tuple[float, float]:
    """Return the 95% interval of the median of sorted samples, by order statistics: no assumption on their shape."""
    count = len(ordered)
    reach = _Z * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return ordered[low], ordered[high]


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted samples, interpolated."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive numbers: the score.

    Raises:
        ValueError: there are none, or one is not positive.
    """
    logs = [math.log(value) for value in values]
    if not logs:
        raise ValueError("no values")
    return math.exp(fmean(logs))


def is_implausible(timing: Timing, floor_us: float) -> bool:
    """Tell whether a case was faster than the GPU can be, beyond its interval."""
    return timing.high_us < floor_us
