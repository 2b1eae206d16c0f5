"""The statistics of timing: times, intervals, numbers of samples, and what makes a time unfit for ranking."""

import random
from statistics import median, stdev

import pytest

from harness.replay.timing import (
    FIRST_SAMPLES,
    MAX_SAMPLES,
    MOST_SLOTS,
    PROCESS_SPREAD,
    TICK_US,
    geometric_mean,
    is_implausible,
    mean_of_faster,
    quantile,
    samples_needed,
    slot_count,
    summarise,
    time_interval,
)


def draw(count, middle=20.0, spread=0.2, seed=0):
    source = random.Random(seed)
    return [source.gauss(middle, spread) for _ in range(count)]


def witness_of(spans, over=2.6):
    return [span + over for span in spans]


def test_the_numbers_of_a_case():
    spans = [10.0, 10.2, 9.8, 10.1, 9.9]
    timing = summarise(spans, witness_of(spans), 1)
    assert (timing.time_us, timing.samples, timing.fault) == (pytest.approx(9.95), 5, "")
    assert timing.mean_us == pytest.approx(10.0)
    assert (timing.p10_us, timing.p90_us) == pytest.approx((9.84, 10.16))
    assert timing.witness_us == pytest.approx(12.55)


def test_a_time_is_the_mean_without_the_slowest_three_in_ten():
    assert mean_of_faster([90.0, 3.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 80.0, 70.0]) == pytest.approx(4.0)
    assert mean_of_faster([3.0, 1.0, 2.0]) == pytest.approx(2.0), "too few to leave one out"
    assert mean_of_faster([7.0]) == 7.0


KEPT_OF_NORMAL = -0.4967
"""The mean of a standard normal distribution below its 70% quantile, z = 0.5244: -density(z) / 0.7."""


@pytest.mark.parametrize("count", [60, 100, 200])
def test_the_interval_holds_the_true_time_nineteen_times_in_twenty(count):
    hits, truth = 0, 20 + 0.2 * KEPT_OF_NORMAL
    for seed in range(600):
        spans = draw(count, seed=seed)
        between = PROCESS_SPREAD * mean_of_faster(spans)
        low, high = time_interval(spans)
        hits += low + between <= truth <= high - between
    assert 0.92 * 600 <= hits <= 0.98 * 600


def test_the_interval_includes_the_spread_between_processes():
    timing = summarise([20.0] * 50, [22.6] * 50, 1)
    assert timing.low_us == pytest.approx(20 - 20 * PROCESS_SPREAD)
    assert timing.high_us == pytest.approx(20 + 20 * PROCESS_SPREAD)
    short = summarise([2.0] * 50, [4.6] * 50, 1)
    assert short.high_us == pytest.approx(2 + TICK_US), "a short kernel is not known better than the clock ticks"


def draw_two_peaks(seed):
    """Samples of one peak or another, a few percent apart and about as many of each, as fresh processes show them."""
    source = random.Random(seed)
    return [source.gauss(source.choice((20.0, 20.6)), 0.1) for _ in range(100)]


def test_times_hardly_differ_from_run_to_run_where_a_median_jumps():
    runs = [draw_two_peaks(seed) for seed in range(200)]
    times, medians = [mean_of_faster(spans) for spans in runs], [median(spans) for spans in runs]
    assert stdev(times) < 0.003 * 20
    assert stdev(medians) > 3 * stdev(times)


def test_a_kernel_that_is_slow_now_and_then_is_not_faster_for_it():
    steady = draw(100)
    for share in (0.1, 0.5, 0.9):
        source = random.Random(5)
        noisy = [span + (source.expovariate(1) if source.random() < share else 0) for span in steady]
        assert mean_of_faster(noisy) >= mean_of_faster(steady)
        assert share < 0.5 or mean_of_faster(noisy) > 1.002 * mean_of_faster(steady), "more than three in ten count"


@pytest.mark.parametrize(("middle", "precision"), [(2.0, 0.012), (8.0, 0.0045), (40.0, 0.0015)])
def test_as_many_samples_as_a_kernel_of_its_length_needs(middle, precision):
    for seed in range(6):
        first = draw(FIRST_SAMPLES, middle, middle * precision * 5, seed)
        needed = samples_needed(first)
        assert FIRST_SAMPLES < needed < MAX_SAMPLES
        assert needed % MOST_SLOTS == FIRST_SAMPLES % MOST_SLOTS == MAX_SAMPLES % MOST_SLOTS == 0
        many = first * 100
        time_us, (low, high) = mean_of_faster(many), time_interval(many)
        half = (high - low) / 2 - max(PROCESS_SPREAD * time_us, TICK_US)
        with_as_many = half * (100 * FIRST_SAMPLES / needed) ** 0.5
        assert 0.8 < with_as_many / (precision * time_us) < 1.02, "no fewer, and no more than slots ask for"


@pytest.mark.parametrize(("call_mib", "slots"), [(0, 16), (64, 16), (64.1, 8), (128, 8), (128.1, 4), (9000, 4)])
def test_calls_that_take_little_memory_are_made_in_more_slots(call_mib, slots):
    assert slot_count(int(call_mib * (1 << 20))) == slots


def test_more_spread_asks_for_more_samples():
    few, some, many = (samples_needed(draw(FIRST_SAMPLES, 30.0, s)) for s in (0.02, 0.2, 3.0))
    assert FIRST_SAMPLES == few < some < many == MAX_SAMPLES


def test_one_outlier_buys_no_samples():
    steady = draw(FIRST_SAMPLES, spread=0.02)
    assert samples_needed([*steady[:-1], 500.0]) == FIRST_SAMPLES


def test_calls_that_do_others_work_are_unstable():
    """Two calls in three return at once: the time hides the third, the mean does not."""
    spans = [5.0, 5.0, 50.0] * 20
    assert summarise(spans, witness_of(spans), 1).fault == "mean_gap"


def test_a_single_outlier_is_not_unstable():
    spans = [*draw(59), 60.0]
    assert summarise(spans, witness_of(spans), 1).fault == ""


@pytest.mark.parametrize(("over", "fault"), [(2.6, ""), (-3.0, "witness"), (40.0, "witness")])
def test_clocks_that_disagree(over, fault):
    spans = draw(50)
    assert summarise(spans, witness_of(spans, over), 1).fault == fault


def test_more_nodes_may_cost_the_witness_more():
    spans = draw(50)
    assert summarise(spans, witness_of(spans, 8.0), 1).fault == "witness"
    assert summarise(spans, witness_of(spans, 8.0), 6).fault == ""
    assert summarise(spans, witness_of(spans, 20.0), 6).fault == "witness"


@pytest.mark.parametrize("spans", [[], [0.0, 1.0], [1.0, float("nan")], [1.0, float("inf")], [-1.0]])
def test_samples_that_are_none(spans):
    with pytest.raises(ValueError, match="positive numbers"):
        summarise(spans, spans or [1.0], 1)


def test_faster_than_light():
    spans = draw(50, middle=5.0, spread=0.01)
    timing = summarise(spans, witness_of(spans), 1)
    assert is_implausible(timing, floor_us=5.5)
    assert not is_implausible(timing, floor_us=5.01), "within the interval there is room for doubt"


def test_score():
    assert geometric_mean([1.0, 100.0]) == pytest.approx(10.0)
    for wrong in ([], [1.0, 0.0]):
        with pytest.raises(ValueError):
            geometric_mean(wrong)


def test_quantiles():
    assert quantile([1.0, 2.0, 3.0], 0.5) == 2.0
    assert quantile([7.0], 0.9) == 7.0
