"""The statistics of timing: medians, intervals, numbers of samples, and what makes a time unfit for ranking."""

import random

import pytest

from harness.replay.timing import (
    FIRST_SAMPLES,
    MAX_SAMPLES,
    PROCESS_SPREAD,
    SLOTS,
    TICK_US,
    geometric_mean,
    is_implausible,
    median_interval,
    median_us,
    quantile,
    samples_needed,
    summarise,
    time_interval,
    time_us,
)


def draw(count, middle=20.0, spread=0.2, seed=0):
    source = random.Random(seed)
    return [source.gauss(middle, spread) for _ in range(count)]


def witness_of(spans, over=2.6):
    return [span + over for span in spans]


def test_the_numbers_of_a_case():
    spans = [10.0, 10.2, 9.8, 10.1, 9.9]
    timing = summarise(spans, witness_of(spans), 1)
    assert (timing.median_us, timing.samples, timing.fault) == (pytest.approx(10), 5, "")
    assert timing.mean_us == pytest.approx(10.0)
    assert (timing.p10_us, timing.p90_us) == pytest.approx((9.84, 10.16))
    assert timing.witness_us == pytest.approx(12.6)


def test_the_interval_holds_the_true_median_nineteen_times_in_twenty():
    hits = 0
    for seed in range(400):
        low, high = median_interval(sorted(draw(60, seed=seed)))
        hits += low <= 20.0 <= high
    assert hits >= 0.93 * 400


def test_the_interval_includes_the_spread_between_processes():
    timing = summarise([20.0] * 50, [22.6] * 50, 1)
    assert timing.low_us == pytest.approx(20 - 20 * PROCESS_SPREAD)
    assert timing.high_us == pytest.approx(20 + 20 * PROCESS_SPREAD)
    short = summarise([2.0] * 50, [4.6] * 50, 1)
    assert short.high_us == pytest.approx(2 + TICK_US), "a short kernel is not known better than the clock ticks"


PLACES = (20.0, 20.1, 21.0, 21.1)  # what a kernel takes in each slot


def draw_in_slots(count, spread=0.1, seed=0):
    source = random.Random(seed)
    slots = [number % SLOTS for number in range(count)]
    source.shuffle(slots)
    return [source.gauss(PLACES[slot], spread) for slot in slots], slots


def test_the_time_is_the_mean_of_the_slots_medians():
    assert time_us([1.0, 10.0, 2.0, 20.0, 3.0, 90.0], [0, 1, 0, 1, 0, 1]) == pytest.approx((2 + 20) / 2)
    assert time_us([3.0, 1.0, 2.0]) == pytest.approx(2), "all in one slot"
    spans, slots = draw_in_slots(200)
    timing = summarise(spans, witness_of(spans), 1, slots)
    assert timing.median_us == pytest.approx(sum(PLACES) / 4, rel=1e-3)
    assert timing.witness_us == pytest.approx(timing.median_us + 2.6)


def test_slots_that_differ_ask_for_no_more_samples():
    spans, slots = draw_in_slots(FIRST_SAMPLES, spread=0.02)
    assert samples_needed(spans, slots) == FIRST_SAMPLES
    assert samples_needed(spans) > FIRST_SAMPLES, "as one lot they are far apart"
    wide, slots = draw_in_slots(FIRST_SAMPLES, spread=0.3)
    assert samples_needed(wide, slots) > FIRST_SAMPLES
    assert samples_needed(wide, slots) % SLOTS == FIRST_SAMPLES % SLOTS == MAX_SAMPLES % SLOTS == 0


def test_times_of_several_slots_hardly_differ_from_run_to_run_and_lie_in_their_intervals():
    truth, hits, times = sum(PLACES) / 4, 0, []
    for seed in range(200):
        spans, slots = draw_in_slots(FIRST_SAMPLES, seed=seed)
        low, high = time_interval(spans, slots)
        between = PROCESS_SPREAD * time_us(spans, slots)
        hits += low + between <= truth <= high - between
        times.append(time_us(spans, slots))
    assert hits >= 0.93 * 200, "without what processes differ by"
    assert max(times) - min(times) < 0.006 * truth
    as_one = [time_us(draw_in_slots(FIRST_SAMPLES, seed=seed)[0]) for seed in range(200)]
    assert max(as_one) - min(as_one) > 2 * (max(times) - min(times)), "a median over all jumps between slots"


def test_more_spread_asks_for_more_samples():
    few, some, many = (samples_needed(draw(FIRST_SAMPLES, spread=s)) for s in (0.02, 0.2, 2.0))
    assert FIRST_SAMPLES == few < some < many == MAX_SAMPLES


def test_one_outlier_buys_no_samples():
    steady = draw(FIRST_SAMPLES, spread=0.02)
    assert samples_needed([*steady[:-1], 500.0]) == FIRST_SAMPLES


def test_calls_that_do_others_work_are_unstable():
    """Two calls in three return at once: the median hides the third, the mean does not."""
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
    assert summarise(spans, witness_of(spans, 15.0), 1).fault == "witness"
    assert summarise(spans, witness_of(spans, 15.0), 6).fault == ""


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


def test_the_median_is_finer_than_the_clocks_tick():
    """Samples of one tick or the next: where between them the median lies hangs on how many there are of each."""
    below, above = 165 * TICK_US, 166 * TICK_US
    few, half, most = (median_us([below] * (100 - n) + [above] * n) for n in (10, 50, 90))
    assert below < few < half < most < above
    assert half == pytest.approx((below + above) / 2)
    assert median_us([below] * 99) == pytest.approx(below)
    assert median_us([1.0, 10.0]) == 5.5, "no sample is near the median"


def test_a_median_between_two_ticks_lies_between_them_whatever_the_ticks():
    for tick in range(30, 1000):
        spans = [tick * TICK_US] * 20 + [(tick + 1) * TICK_US] * 20
        assert median_us(spans) == pytest.approx((tick + 0.5) * TICK_US)
