"""The season's overall standings: points over all problems, for one target and division. Pure.

An entry gets its problem's points times the leader's time over its own: half the points for a kernel that takes twice
as long. Entries that share a place share the points of their group's leader, so that noise decides nothing here either.
A team's standing is the sum over the problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.board.places import Board

_DIGITS = 1  # of points; what is equal to these ties


@dataclass(frozen=True)
class Standing:
    """A team's place over all problems.

    Attributes:
        place: 1 for the leader; equal points share a place.
        points: the sum, rounded.
        by_problem: the points of each problem that the team is ranked on.
    """

    place: int
    team: str
    points: float
    by_problem: Mapping[str, float]


def rank_overall(boards: Iterable[Board], points: Mapping[str, int]) -> tuple[Standing, ...]:
    """Return the standings, the leader first.

    Args:
        boards: of one target and division, one for each problem; one of a version that is no longer is worth nothing.
        points: what each problem is worth; one that is not named is worth nothing.
    """
    teams: dict[str, dict[str, float]] = {}
    for board in boards:
        if board.changed:
            continue
        worth = points.get(board.problem, 0)
        for team, share in _shares(board).items():
            teams.setdefault(team, {})[board.problem] = round(worth * share, _DIGITS)
    totals = {team: round(sum(own.values()), _DIGITS) for team, own in teams.items()}
    ordered = sorted(totals, key=lambda team: (-totals[team], team))
    places = {total: 1 + sum(other > total for other in totals.values()) for total in totals.values()}
    return tuple(Standing(places[totals[team]], team, totals[team], teams[team]) for team in ordered)


def _shares(board: Board) -> dict[str, float]:
    """Return the share of a board's points that each of its teams gets, 1 for the leader."""
    leaders_us: dict[int, float] = {}
    for entry in board.entries:
        leaders_us[entry.place] = min(entry.score_us, leaders_us.get(entry.place, entry.score_us))
    return {entry.record.team: leaders_us[1] / leaders_us[entry.place] for entry in board.entries}
