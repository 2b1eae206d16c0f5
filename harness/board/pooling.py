"""Runs of one program, taken together: a team that submits the same program again adds samples, and no second chance.

One program is what a GPU is made to do, in one setting: names, comments and unused code make no other
(`artifact.program`). Its samples of all runs are pooled, case by case, and the score is made anew from them. So the
luckiest of many runs is worth nothing. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from harness.replay.timing import geometric_mean, quantile, time_interval, trimmed_mean
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
    newest = timings[-1]
    if all(timing.spans_us for timing in timings):
        pooled = _summarise(newest, timings)
    else:  # records from before samples were kept
        pooled = replace(
            newest,
            time_us=median(timing.time_us for timing in timings),
            mean_us=fmean(timing.mean_us for timing in timings),
            low_us=min(timing.low_us for timing in timings),
            high_us=max(timing.high_us for timing in timings),
            samples=sum(timing.samples for timing in timings),
        )
    faster = newest.time_us / pooled.time_us
    share = 100 * pooled.floor_us / pooled.time_us if pooled.floor_us is not None else pooled.percent_of_floor
    return replace(
        pooled, percent_of_floor=share, speedups={name: value * faster for name, value in newest.speedups.items()}
    )


def _summarise(newest: TimingRecord, timings: Sequence[TimingRecord]) -> TimingRecord:
    spans = [span for timing in timings for span in timing.spans_us]
    low, high = time_interval(spans)
    ordered = sorted(spans)
    return replace(
        newest,
        time_us=trimmed_mean(spans),
        mean_us=fmean(spans),
        low_us=low,
        high_us=high,
        p10_us=quantile(ordered, 0.1),
        p90_us=quantile(ordered, 0.9),
        samples=len(spans),
        spans_us=tuple(spans),
    )
