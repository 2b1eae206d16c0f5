"""Ranking: pure, from records to a board. It decides who stands where and who stands apart, and renders nothing.

One entry per team, its fastest program, by the times of all its runs (`pooling`). Only PASSED records of one setting
(season, problem version, evaluator, toolchain) are ranked; CHECKED and BUILT ones, and everything made in another
setting, are listed apart with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from harness.board.places import Apart, Board, Entry
from harness.board.pooling import Pooled, pool_runs
from harness.store.record import RANKING_SUITE, Record, Setting


def rank(
    records: Iterable[Record],
    problem: str,
    target: str,
    division: str,
    *,
    noise: float = 0.0,
    noise_assumed: bool = False,
    setting: Setting | None = None,
    version_now: str | None = None,
    ruled: Container[str] = (),
) -> Board:
    """Make a board of records.

    Args:
        records: any; those of other boards and those that no board shows are left out.
        problem: the problem's name.
        target: the target's name.
        division: "closed" or "open".
        noise: the target's spread between identical kernels, as a share of one.
        noise_assumed: it was not measured; the board says so.
        setting: the one that counts now; by default the newest ranked record's, or else the newest record's.
        version_now: the problem's version today, where it is known: a board of another one says so.
        ruled: the ids of records that have no place and make no setting count. Who had their programs first still did.
    """
    board = (problem, target, division)
    shown = sorted(
        (r for r in records if r.accepted and (r.problem, r.target, r.division) == board), key=lambda r: r.id
    )
    counting = [record for record in shown if record.id not in ruled]
    setting = setting or _newest_setting(counting) or (shown[-1].setting if shown else None)
    here = [record for record in counting if record.setting == setting]
    out = len(shown) - len(counting)
    empty = Board(*board, setting, noise, version_now=version_now, noise_assumed=noise_assumed, ruled_out=out)
    programs = pool_runs(record for record in here if record.scored)
    others = _pool_others(record for record in counting if record.setting != setting)
    return arrange(empty, programs, here, others, _first_teams(shown))


def arrange(
    board: Board,
    programs: Iterable[Pooled],
    here: Sequence[Record],
    others: Sequence[Record],
    first_teams: Mapping[str, str],
) -> Board:
    """Fill a board by the rules of ranking, from what its records come to.

    Args:
        board: without entries; its setting is the one that counts.
        programs: ranked in that setting; of each team at least the fastest.
        here: accepted records of that setting, the oldest first; of each team at least the newest unranked one.
        others: accepted records of other settings, the oldest first; what is ranked there as its runs come to.
        first_teams: who had a program, or a source, first, by the hash of either.
    """
    best = _fastest_of_each_team(programs)
    return replace(
        board,
        entries=_place(best, board.noise, first_teams),
        unranked=_list_unranked(here, {pooled.record.team: pooled.record for pooled in best}),
        elsewhere=_list_elsewhere(others, board.setting),
    )


def tie_groups(scores_us: Sequence[float], noise: float, programs: Sequence[str] = ()) -> list[int]:
    """Return the place of each of some ascending scores.

    Walking down from the leader, a score ties with the leader of its group when it is within `noise` of it; the first
    that is not leads the next group. So a chain of near scores does not tie its ends. What a kernel's own samples
    scatter by plays no part: noise gains nothing. The same program under another name has its twin's place, however
    near the edge of a group the two were measured.

    Args:
        scores_us: in ascending order.
        noise: as a share of one.
        programs: what each score is the score of; all different by default.
    """
    named = programs or [f"entry {position}" for position in range(len(scores_us))]
    places = [0] * len(scores_us)
    done = 0
    for leader, leader_us in enumerate(scores_us):
        if places[leader]:
            continue
        free = [position for position in range(leader, len(scores_us)) if not places[position]]
        near = {named[position] for position in free if scores_us[position] <= leader_us * (1 + noise)}
        group = [position for position in free if named[position] in near]
        for position in group:
            places[position] = done + 1
        done += len(group)
    return places


def describe_difference(setting: Setting, current: Setting) -> str:
    """Say in what a setting differs from the current one: "problem version 1, now 2; triton 3.6.0, now 3.7.1"."""
    pairs = [
        ("season", setting.season, current.season),
        ("suite", setting.suite, current.suite),
        ("problem version", setting.problem_version, current.problem_version),
        ("evaluator", setting.evaluator_version, current.evaluator_version),
    ]
    then, now = dict(setting.toolchain), dict(current.toolchain)
    pairs += [(tool, then.get(tool, "none"), now.get(tool, "none")) for tool in sorted(then | now)]
    return "; ".join(f"{name} {before}, now {after}" for name, before, after in pairs if before != after)


def _newest_setting(shown: Sequence[Record]) -> Setting | None:
    ranking = [record for record in shown if record.suite == RANKING_SUITE] or shown
    candidates = [r for r in ranking if r.scored] or [r for r in ranking if r.whole_suite] or ranking
    return candidates[-1].setting if candidates else None


def _pool_others(records: Iterable[Record]) -> list[Record]:
    """Return each team's fastest program of each of some settings, by all its runs, and what has no place there."""
    ranked: dict[Setting, list[Record]] = {}
    found = []
    for record in records:
        if record.scored:
            ranked.setdefault(record.setting, []).append(record)
        else:
            found.append(record)
    for runs in ranked.values():
        found += [pooled.record for pooled in _fastest_of_each_team(pool_runs(runs))]
    return sorted(found, key=lambda record: record.id)


def _fastest_of_each_team(programs: Iterable[Pooled]) -> list[Pooled]:
    best: dict[str, Pooled] = {}
    for pooled in programs:
        team = pooled.record.team
        if team not in best or pooled.score_us < best[team].score_us:
            best[team] = pooled
    return sorted(best.values(), key=lambda pooled: (pooled.score_us, pooled.first))


def _place(best: Sequence[Pooled], noise: float, first_teams: Mapping[str, str]) -> tuple[Entry, ...]:
    places = tie_groups([pooled.score_us for pooled in best], noise, [pooled.program for pooled in best])
    listed = sorted(zip(places, best, strict=True), key=lambda pair: (pair[0], pair[1].score_us, pair[1].first))
    scores_us, shared = [pooled.score_us for _, pooled in listed], Counter(places)
    return tuple(
        Entry(
            place=place,
            tied=shared[place] > 1,
            record=pooled.record,
            score_us=pooled.score_us,
            gap_to_leader=pooled.score_us / scores_us[0] - 1 if i else None,
            # A twin may stand above one that was measured a trace faster.
            gap_to_above=max(0.0, pooled.score_us / scores_us[i - 1] - 1) if i else None,
            same_program_as=_find_earlier(pooled.record, first_teams),
            runs=pooled.runs,
        )
        for i, (place, pooled) in enumerate(listed)
    )


def _list_unranked(here: Sequence[Record], best: dict[str, Record]) -> tuple[Apart, ...]:
    newest: dict[str, Record] = {}
    for record in here:
        older = record.team in best and best[record.team].id > record.id
        hides = record.team in newest and newest[record.team].whole_suite and not record.whole_suite
        if not (record.scored or older or hides):
            newest[record.team] = record
    ordered = sorted(newest.values(), key=lambda record: (record.kind != "PASSED", record.kind == "BUILT", record.team))
    return tuple(Apart(record, _why_unranked(record)) for record in ordered)


def _list_elsewhere(others: Sequence[Record], current: Setting | None) -> tuple[Apart, ...]:
    if current is None:
        return ()
    shown: dict[tuple[Setting, str], Record] = {}
    for record in others:
        key = (record.setting, record.team)
        if key not in shown or _preference(record) <= _preference(shown[key]):
            shown[key] = record
    ordered = sorted(shown.values(), key=lambda record: record.id, reverse=True)
    return tuple(Apart(record, describe_difference(record.setting, current)) for record in ordered)


def _preference(record: Record) -> tuple[bool, bool, float]:
    """Order a team's records of one setting: ranked ones first, then of whole suites, then the faster; then by age."""
    return (not record.scored, not record.whole_suite, _score_us(record) if record.scored else 0.0)


def _why_unranked(record: Record) -> str:
    if record.kind == "BUILT" and record.verdict and record.verdict.message:
        return record.verdict.message
    return record.unranked_reason or ("checked on a CPU" if record.kind == "CHECKED" else "not ranked")


def _first_teams(shown: Sequence[Record]) -> dict[str, str]:
    first: dict[str, str] = {}
    for record in shown:
        first.setdefault(record.program, record.team)
        first.setdefault(record.normalised_source_sha256, record.team)
    return first


def _find_earlier(record: Record, first_teams: Mapping[str, str]) -> str | None:
    """Return the other team that had a record's program first, or else its source: of another setting, say."""
    names = filter(None, (record.program, record.normalised_source_sha256))
    return next((first_teams[name] for name in names if first_teams[name] != record.team), None)


def _score_us(record: Record) -> float:
    return math.inf if record.score_us is None else record.score_us
