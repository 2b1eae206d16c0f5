"""Runs of one program, taken together: a team that submits the same program again adds a run, and no second chance.

One program is what a GPU is made to do, in one setting: names, comments and unused code make no other
(`artifact.program`). Its time in each case is the mean of all its runs' times, and the score is made anew from them. So
the luckiest of many runs is worth nothing. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from harness.replay.timing import geometric_mean, quantile
from harness.store.record import CaseRecord, Record, TimingRecord


@dataclass(frozen=True)
class Pooled:
    """A team's program.

    Attributes:
        record: its newest run, with times and score of all runs.
        runs: how many there are.
        first: the id of its first run.
    """

    record: Record
    runs: int
    first: str

    @property
    def program(self) -> str:
        """What makes it the same program as another team's."""
        return self.record.program

    @property
    def score_us(self) -> float:
        """The score over all runs."""
        assert self.record.score_us is not None
        return self.record.score_us


def pool_runs(records: Iterable[Record]) -> list[Pooled]:
    """Return every program of some scored records of one setting, by the age of its first run."""
    programs: dict[tuple[str, str], list[Record]] = {}
    for record in sorted(records, key=lambda record: record.id):
        programs.setdefault((record.team, record.program), []).append(record)
    return [Pooled(_pool(runs), len(runs), runs[0].id) for runs in programs.values()]


def _pool(runs: Sequence[Record]) -> Record:
    newest = runs[-1]
    timings = [{case.case_id: case.timing for case in run.cases if case.timing} for run in runs]
    # Records of one setting have the same cases; one that does not is older than its own description.
    if len(runs) == 1 or not timings[-1] or any(set(timing) != set(timings[-1]) for timing in timings):
        return newest
    pooled = {name: _pool_timings([timing[name] for timing in timings]) for name in timings[-1]}
    cases = tuple(_with_timing(case, pooled) for case in newest.cases)
    return replace(newest, cases=cases, score_us=geometric_mean(timing.time_us for timing in pooled.values()))


def _with_timing(case: CaseRecord, pooled: dict[str, TimingRecord]) -> CaseRecord:
    return replace(case, timing=pooled[case.case_id]) if case.timing else case


def _pool_timings(timings: Sequence[TimingRecord]) -> TimingRecord:
    newest, time_us = timings[-1], fmean(timing.time_us for timing in timings)
    half = math.hypot(*(timing.high_us - timing.low_us for timing in timings)) / (2 * len(timings))
    spans = [span for timing in timings for span in timing.spans_us]
    faster = newest.time_us / time_us
    share = 100 * newest.floor_us / time_us if newest.floor_us is not None else newest.percent_of_floor
    return replace(
        newest,
        time_us=time_us,
        mean_us=fmean(timing.mean_us for timing in timings),
        low_us=time_us - half,
        high_us=time_us + half,
        p10_us=quantile(sorted(spans), 0.1) if spans else newest.p10_us,
        p90_us=quantile(sorted(spans), 0.9) if spans else newest.p90_us,
        samples=sum(timing.samples for timing in timings),
        spans_us=tuple(spans),
        percent_of_floor=share,
        speedups={name: value * faster for name, value in newest.speedups.items()},
    )
