"""From the samples of a case to its time: pure statistics, no GPU.

A sample is the span of one call, in microseconds, on inputs never seen before and a cold L2. Nothing is subtracted.
Calls are made in several slots, each with data and code at addresses of its own, each equally often: where things lie
moves a short kernel's time by a few percent, and so do they from process to process. Rules:

- the time: the mean of the samples without the slowest three in ten. Of what was tried on an H200 it differs least from
  process to process: most of what a machine adds to a call it adds to some; samples come in peaks, a percent or two
  apart, and a median jumps from one to the next. A kernel gains nothing by being slower at times. One whose calls
  scatter to both sides gains half a standard deviation over their mean, and is UNSTABLE where that is more than a
  little;
- how many samples: `samples_needed`, once, from the spread of the first ones;
- its interval: at 95%, widened by what times of fresh processes differ by;
- UNSTABLE: time and mean are further apart than `MAX_MEAN_GAP` (some calls did others' work), or the witness
  disagrees with the score clock;
- IMPLAUSIBLE: faster than the floor.

Source: Tukey and McLaughlin, 1963, for trimmed means (this one is trimmed on one side) and their standard errors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

MOST_SLOTS, LEAST_SLOTS = 16, 4
SLOTS_BYTES = 1 << 30  # of all slots, where there are more than the least
FIRST_SAMPLES = 64  # this and the next: multiples of MOST_SLOTS
MAX_SAMPLES = 208
PRECISIONS = ((20.0, 0.0015), (5.0, 0.0045), (0.0, 0.012))
"""Half the width of the interval that is wanted, relative, of kernels of so many microseconds and more."""

KEPT = 0.7  # of the samples, the fastest
MAX_MEAN_GAP = 0.10
MEAN_GAP_US = 0.5  # clock ticks and single outliers of short kernels
PROCESS_SPREAD = 0.005  # relative, between times of fresh processes; measured, see bench/gpu
TICK_US = 0.032  # of the score clock

# Events round a graph read 2.2 to 2.8 us more than the span of one node, 3.5 of three, 3.9 of five (H200; bench/gpu).
WITNESS_BASE_US = 4.5
WITNESS_NODE_US = 0.75
WITNESS_RELATIVE = 0.05

_Z = 1.96


@dataclass(frozen=True)
class Timing:
    """The time of one case, in microseconds.

    Attributes:
        time_us: the mean of the samples without the slowest.
        low_us, high_us: its interval, the spread between processes included.
        witness_us: the same by events.
        fault: "" or why it can't be ranked ("mean_gap", "witness").
    """

    time_us: float
    mean_us: float
    low_us: float
    high_us: float
    p10_us: float
    p90_us: float
    samples: int
    witness_us: float
    fault: str = ""


def slot_count(call_bytes: int) -> int:
    """Return in how many slots a call is made whose tensors, its own ones too, take so many bytes: a power of two.

    It takes many to even out where a short kernel lies; a call that moves much memory differs less, and costs more.
    """
    slots = MOST_SLOTS
    while slots > LEAST_SLOTS and slots * call_bytes > SLOTS_BYTES:
        slots //= 2
    return slots


def samples_needed(first: Sequence[float]) -> int:
    """Return how many samples a case needs, from its first ones: a multiple of any number of slots.

    A standard error falls with the root of the number. An outlier buys nobody more samples.
    """
    middle = mean_of_faster(first)
    wanted_us = middle * next(precision for least_us, precision in PRECISIONS if middle >= least_us)
    needed = len(first) * (_half_width(first) / wanted_us) ** 2
    return max(len(first), min(MAX_SAMPLES, math.ceil(needed / MOST_SLOTS) * MOST_SLOTS))


def slot_order(slots: int, chance: random.Random) -> Iterator[int]:
    """Yield the slots of calls for ever: each equally often, in an order that nobody can foresee."""
    while True:
        yield from chance.sample(range(slots), slots)


def summarise(spans_us: Sequence[float], witness_us: Sequence[float], nodes: int) -> Timing:
    """Return a case's time.

    Args:
        spans_us: the score clock's samples.
        witness_us: the events' samples of the same calls.
        nodes: how many nodes the call's graph has; each adds to what events see.

    Raises:
        ValueError: there are no samples, or a sample is not a positive number.
    """
    if not spans_us or not all(math.isfinite(value) and value > 0 for value in (*spans_us, *witness_us)):
        raise ValueError("samples must be positive numbers")
    ordered = sorted(spans_us)
    time_us, mean, witness = mean_of_faster(spans_us), fmean(ordered), mean_of_faster(witness_us)
    low, high = time_interval(spans_us)
    return Timing(
        time_us=time_us,
        mean_us=mean,
        low_us=low,
        high_us=high,
        p10_us=quantile(ordered, 0.1),
        p90_us=quantile(ordered, 0.9),
        samples=len(ordered),
        witness_us=witness,
        fault=_find_fault(time_us, mean, witness, nodes),
    )


def mean_of_faster(samples: Sequence[float]) -> float:
    """Return the mean of samples without the slowest three in ten: the time that they stand for."""
    return fmean(_faster(samples))


def _faster(samples: Sequence[float]) -> list[float]:
    return sorted(samples)[: math.ceil(KEPT * len(samples))]


def time_interval(spans_us: Sequence[float]) -> tuple[float, float]:
    """Return the time's interval at 95%, the spread between processes included."""
    middle = mean_of_faster(spans_us)
    half = _half_width(spans_us) + max(PROCESS_SPREAD * middle, TICK_US)
    return middle - half, middle + half


def _half_width(samples: Sequence[float]) -> float:
    """Return half the width of the time's 95% interval: from the samples, the slowest pulled to those that are kept."""
    faster = _faster(samples)
    pulled = faster + [faster[-1]] * (len(samples) - len(faster))
    return _Z * stdev(pulled) / (len(faster) / len(samples)) / math.sqrt(len(samples)) if len(samples) > 1 else 0.0


def _find_fault(middle: float, mean: float, witness: float, nodes: int) -> str:
    if abs(mean - middle) > max(MAX_MEAN_GAP * middle, MEAN_GAP_US):
        return "mean_gap"
    # Events see the launch too, never less than the span; how much more was measured.
    allowed = WITNESS_BASE_US + WITNESS_NODE_US * (nodes - 1) + WITNESS_RELATIVE * middle
    return "" if -TICK_US - 0.02 * middle <= witness - middle <= allowed else "witness"


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
