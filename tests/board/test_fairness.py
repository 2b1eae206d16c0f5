"""Ranking is fair to noise: properties, and what real times of one kernel do to two names of it."""

import dataclasses
import hashlib
import itertools
import json
import random
from pathlib import Path
from statistics import fmean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.board.pooling import pool_runs
from harness.board.ranking import rank, tie_groups
from harness.replay.timing import geometric_mean, mean_of_faster
from harness.target import load_target
from tests.store.samples import passed

BOARD = ("chunk_fwd_h", "b200", "closed")

SCORES = st.lists(st.floats(1.0, 1000.0), min_size=1, max_size=30).map(sorted)
NOISE = st.sampled_from([0.0, 0.002, 0.01, 0.05])
SPANS = st.lists(st.floats(5.0, 15.0), min_size=3, max_size=20)


def run(team, spans_us, minute, program=None):
    """A ranked record with these samples in every benchmark."""
    record = passed(team, mean_of_faster(spans_us), minute)
    cases = [
        dataclasses.replace(
            case,
            timing=dataclasses.replace(
                case.timing, time_us=mean_of_faster(spans_us), samples=len(spans_us), spans_us=tuple(spans_us)
            ),
        )
        if case.timing
        else case
        for case in record.cases
    ]
    name = program or f"{team} {minute}"
    return dataclasses.replace(
        record, cases=tuple(cases), normalised_source_sha256=hashlib.sha256(name.encode()).hexdigest()
    )


@settings(deadline=None)
@given(SCORES, NOISE)
def test_a_group_is_what_lies_within_the_noise_of_its_leader(scores_us, noise):
    places = tie_groups(scores_us, noise)
    for place, members in itertools.groupby(range(len(scores_us)), key=lambda position: places[position]):
        group = list(members)
        leader_us = scores_us[group[0]]
        assert place == group[0] + 1
        assert all(scores_us[position] <= leader_us * (1 + noise) for position in group)
        after = group[-1] + 1
        assert after == len(scores_us) or scores_us[after] > leader_us * (1 + noise)


@settings(deadline=None)
@given(SCORES, NOISE, st.randoms(use_true_random=False))
def test_one_program_has_one_place_under_every_name(scores_us, noise, chance):
    programs = [chance.choice("abcde") for _ in scores_us]
    places = tie_groups(scores_us, noise, programs)
    found = {}
    for program, place in zip(programs, places, strict=True):
        assert found.setdefault(program, place) == place
    assert min(places) == 1
    # A place is one more than the entries before it.
    assert all(place == 1 + sum(other < place for other in places) for place in places)


@settings(deadline=None)
@given(SCORES, NOISE, st.floats(1.0, 3.0))
def test_scatter_of_its_own_samples_moves_nobody(scores_us, noise, factor):
    calm = [passed(f"team{i}", score, i) for i, score in enumerate(scores_us)]
    wide = [
        dataclasses.replace(case, timing=dataclasses.replace(
            case.timing, low_us=case.timing.low_us / factor, high_us=case.timing.high_us * factor,
            p10_us=case.timing.p10_us / factor, p90_us=case.timing.p90_us * factor))
        if case.timing else case
        for case in calm[-1].cases
    ]  # fmt: skip
    noisy = [*calm[:-1], dataclasses.replace(calm[-1], cases=tuple(wide))]
    before, after = (
        [(entry.place, entry.record.team) for entry in rank(records, *BOARD, noise=noise).entries]
        for records in (calm, noisy)
    )
    assert before == after


@settings(max_examples=50, deadline=None)
@given(SPANS, st.floats(1.02, 3.0), st.randoms(use_true_random=False))
def test_a_kernel_that_is_noisy_on_purpose_ties_with_nobody_above_it(spans_us, slower, chance):
    """Its time is beyond the target's noise; that some of its calls are faster than the leader's is no help."""
    noise, middle = 0.01, mean_of_faster(spans_us) * slower
    drawn = [0.3 + 1.7 * chance.random() for _ in range(40)]
    scattered = [middle * factor / mean_of_faster(drawn) for factor in drawn]
    board = rank([run("calm", spans_us, 0), run("noisy", scattered, 1)], *BOARD, noise=noise)
    assert [(entry.record.team, entry.place, entry.tied) for entry in board.entries] == [
        ("calm", 1, False),
        ("noisy", 2, False),
    ]


@settings(max_examples=50, deadline=None)
@given(st.lists(SPANS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_runs_of_one_program_are_pooled_in_any_order(runs, chance):
    records = [run("acme", spans, minute, "one") for minute, spans in enumerate(runs)]
    shuffled = chance.sample(records, len(records))
    (pooled,) = pool_runs(shuffled)
    assert pool_runs(records) == [pooled]
    assert pooled.score_us == pytest.approx(fmean(mean_of_faster(spans) for spans in runs))
    assert (pooled.runs, pooled.first, pooled.record.id) == (len(runs), records[0].id, records[-1].id)


def test_the_luckiest_of_many_runs_is_worth_nothing():
    chance = random.Random(5)
    honest = [run("honest", [chance.gauss(10, 0.3) for _ in range(50)], 0)]
    lucky = [run("lucky", [chance.gauss(10.4, 0.3) for _ in range(50)], 1 + n, "lucky") for n in range(40)]
    best_us = min(record.score_us for record in lucky)
    entry = next(e for e in rank([*honest, *lucky], *BOARD, noise=0.01).entries if e.record.team == "lucky")
    assert best_us < 10.2
    assert entry.score_us == pytest.approx(10.4 - 0.3 * 0.4967, abs=0.01), (
        "of a normal distribution without its slowest"
    )
    assert (entry.place, entry.runs) == (2, 40)
    case = next(case for case in entry.record.cases if case.timing)
    assert case.timing.samples == 2000
    assert case.timing.percent_of_floor == pytest.approx(100 * case.timing.floor_us / case.timing.time_us)


def test_records_without_samples_are_pooled_too():
    records = [
        passed("acme", score, n, normalised_source_sha256="aa" * 32) for n, score in enumerate((9.0, 12.0, 10.0))
    ]
    (pooled,) = pool_runs(records)
    assert pooled.score_us == pytest.approx(31 / 3)
    assert next(c.timing.samples for c in pooled.record.cases if c.timing) == 600


# Real times: kernels in ten fresh processes each on an H200, as bench/gpu measured them last
SPREAD = json.loads((Path(__file__).parents[2] / "bench" / "gpu" / "last.json").read_text())["spread"]


@pytest.fixture(params=sorted(SPREAD))
def scores_us(request):
    """The score of each of the ten processes of a kernel."""
    cases = SPREAD[request.param]["cases"].values()
    return [geometric_mean(times) for times in zip(*(case["times_us"] for case in cases), strict=True)]


def test_one_kernel_under_two_names_never_differs_in_rank(scores_us):
    """Without being known as one program: the target's noise is wide enough for every pair of processes."""
    noise = load_target("h200").noise
    assert len(scores_us) == 10
    for first, second in itertools.permutations(scores_us, 2):
        records = [passed("one", first, 0), passed("other", second, 1), passed("slower", 1.1 * max(scores_us), 2)]
        assert [entry.place for entry in rank(records, *BOARD, noise=noise).entries] == [1, 1, 3]


def test_twenty_runs_of_a_season_give_one_ranking(scores_us):
    """Teams of clearly different kernels, two of which have the same: places are the same in twenty runs."""
    noise = load_target("h200").noise
    middle, chance = median(scores_us), random.Random(11)
    speeds = {"first": 0.9, "twin a": 1.0, "twin b": 1.0, "third": 1.05, "last": 2.0}
    seen = set()
    for number in range(20):
        times = {team: speed * chance.choice(scores_us) / middle * 10 for team, speed in speeds.items()}
        records = [passed(team, score, 10 * number + n) for n, (team, score) in enumerate(times.items())]
        board = rank(records, *BOARD, noise=noise)
        seen.add(tuple(sorted((entry.record.team, entry.place) for entry in board.entries)))
    assert seen == {(("first", 1), ("last", 5), ("third", 4), ("twin a", 2), ("twin b", 2))}


def test_twins_that_are_known_share_a_place_at_the_edge_of_a_group():
    twins = {"normalised_source_sha256": "bb" * 32}
    records = [
        passed("leader", 10.0, 0), passed("near twin", 10.09, 1, **twins), passed("other", 10.11, 2),
        passed("far twin", 10.12, 3, **twins),
    ]  # fmt: skip
    board = rank(records, *BOARD, noise=0.01)
    assert [(entry.record.team, entry.place) for entry in board.entries] == [
        ("leader", 1),
        ("near twin", 1),
        ("far twin", 1),
        ("other", 4),
    ]
    assert [entry.gap_to_above for entry in board.entries][-1] == 0.0
    assert board.entries[2].same_program_as == "near twin"
