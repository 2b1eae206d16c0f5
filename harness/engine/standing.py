"""May a record be ranked? Every reason why not, in sentences for its author. Pure.

What was only checked on a CPU is never ranked, whatever else holds. A replay on a GPU is ranked where everything that
a score depends on is the season's: the problem, suite, division, GPU, clock, sandbox, and the time of day.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from harness.case import load_cases
from harness.engine.gpu import GpuReplay
from harness.engine.request import BuildRequest
from harness.sandbox import Level
from harness.spec import Season
from harness.toolchain import find_faults
from harness.verdict import Kind, Verdict

_NO_REPLAY = "ranking needs a replay on a GPU of the season"
_ON_CPU = f"checked on a CPU: {_NO_REPLAY}"
_BUILT = f"built, not checked in full: {_NO_REPLAY}"


@dataclass(frozen=True)
class Ranked:
    """What the rules of ranking look at beside the season.

    Attributes:
        suite_cases: how many cases the suite has; all must have been replayed.
        chosen_cases: how many of them were evaluated; None for all.
        level: of the sandbox that built the artifact.
    """

    problem: str
    suite: str
    division: str
    target: str
    portable: bool
    level: Level
    suite_cases: int
    toolchain_faults: tuple[str, ...] = ()
    chosen_cases: int | None = None


def describe_request(request: BuildRequest) -> Ranked:
    """Return what a request is, in the view of these rules."""
    return Ranked(
        problem=request.problem.name,
        suite=request.suite,
        division=request.division,
        target=request.target.name,
        portable=request.portable,
        level=request.level,
        suite_cases=len(load_cases(request.problem, request.suite)),
        toolchain_faults=find_faults(request.toolchain),
        chosen_cases=len(request.cases),
    )


def why_unranked(
    entry: Ranked,
    season: Season,
    verdict: Verdict,
    replay: GpuReplay | None,
    now: datetime.datetime,
    no_replay: str = "",
) -> str | None:
    """Return what keeps an accepted record off the ranking, every reason of it; None if nothing does.

    Args:
        entry: what was submitted.
        season: whose rules.
        verdict: a record that fell short has no standing to explain, so None.
        replay: on a GPU, None if there was none.
        now: when it was submitted, with a time zone.
        no_replay: why there was none, where that is more than that no GPU is here.
    """
    if verdict.kind not in (Kind.PASSED, Kind.CHECKED, Kind.BUILT):
        return None
    reasons = list(reasons_of_entry(entry, season, now))
    if verdict.kind is not Kind.PASSED or replay is None:
        reasons.append(no_replay or (_BUILT if verdict.kind is Kind.BUILT else _ON_CPU))
        reasons += _of_the_choice(entry, entry.chosen_cases)
    else:
        reasons += _of_the_replay(entry, season, replay)
    return "; ".join(reasons) or None


def reasons_of_entry(entry: Ranked, season: Season, now: datetime.datetime) -> Iterator[str]:
    """Return what keeps an entry off the ranking however its replay goes.

    Args:
        entry: what was submitted.
        season: whose rules.
        now: when it was submitted, with a time zone.
    """
    yield from _of_the_request(entry, season)
    yield from _of_the_time(season, now)


def _of_the_request(entry: Ranked, season: Season) -> Iterator[str]:
    if entry.portable:
        yield "built with --portable: keys that the target lacks were dropped"
    if entry.division not in season.divisions:
        yield f"the season has no {entry.division} division"
    ranked = season.problems.get(entry.problem)
    if ranked is None:
        yield f"the season does not list {entry.problem}"
    elif entry.suite not in ranked.suites:
        yield f"suite {entry.suite} is for comparison only"
    if entry.target not in season.targets:
        yield f"the season ranks {', '.join(season.targets)}, not {entry.target}"
    if not _reaches(entry.level, season):
        yield f"sandbox level {entry.level}: the season asks for {season.sandbox} (see `make doctor`)"
    yield from entry.toolchain_faults


def _of_the_time(season: Season, now: datetime.datetime) -> Iterator[str]:
    if (why := season.why_not_open(now)) is not None:
        yield why


def _of_the_replay(entry: Ranked, season: Season, replay: GpuReplay) -> Iterator[str]:
    if replay.why_unranked is not None:
        yield replay.why_unranked
    choice = list(_of_the_choice(entry, len(replay.cases)))
    yield from choice
    if not choice and replay.why_unranked is None and replay.score_us is None:
        yield "no benchmark was timed, so there is no score"
    if not _reaches(replay.level, season):
        why = f" ({replay.report.machine['why_lower']})" if replay.report.machine.get("why_lower") else ""
        yield f"the replay ran at sandbox level {replay.level}: the season asks for {season.sandbox}{why}"


def _of_the_choice(entry: Ranked, cases: int | None) -> Iterator[str]:
    if cases is not None and cases < entry.suite_cases:
        were = "was" if cases == 1 else "were"
        yield f"{cases} of the suite's {entry.suite_cases} cases {were} chosen: all of them count"


def _reaches(level: Level, season: Season) -> bool:
    levels = list(Level)  # the best first
    return levels.index(level) <= levels.index(Level(season.sandbox))
