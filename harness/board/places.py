"""What a board is: entries with places, and what stands apart. How places come about is `ranking`'s."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.store.record import Record, Setting


@dataclass(frozen=True)
class Entry:
    """A team's place.

    Attributes:
        place: 1 for the leader; tied entries share the place of their group's leader.
        tied: another entry has the same place.
        gap_to_leader, gap_to_above: how much slower, 0.05 for five per cent; None for the leader.
        same_program_as: the team that submitted the same program (`Record.program`), or its source, before, if any.
        runs: how many runs its times come from.
    """

    place: int
    tied: bool
    record: Record
    score_us: float
    gap_to_leader: float | None
    gap_to_above: float | None
    same_program_as: str | None = None
    runs: int = 1

    @property
    def percent_of_floor(self) -> float | None:
        """Geometric mean of the benchmarks' percentages of the hardware's limit."""
        shares = [case.timing.percent_of_floor for case in self.record.cases if case.timing]
        known = [share for share in shares if share and share > 0]
        return math.exp(sum(map(math.log, known)) / len(known)) if known and len(known) == len(shares) else None


@dataclass(frozen=True)
class Apart:
    """An accepted record that is shown without a place, and why."""

    record: Record
    why: str


@dataclass(frozen=True)
class Board:
    """The ranking of one problem on one target in one division.

    Attributes:
        setting: what all ranked entries share, None while there is no record.
        noise: entries this close (a share of one) to their group's leader tie with it.
        noise_assumed: nobody has measured it on this target.
        unranked: the newest accepted record of each team that is not ranked, in the board's setting; one of chosen
            cases only where the team has none of all.
        elsewhere: each team's best of other settings: not comparable.
        version_now: the problem's version today, None where nobody said it.
        ruled_out: how many accepted records organisers have ruled out: they are in none of the lists.
    """

    problem: str
    target: str
    division: str
    setting: Setting | None
    noise: float
    entries: tuple[Entry, ...] = ()
    unranked: tuple[Apart, ...] = ()
    elsewhere: tuple[Apart, ...] = ()
    version_now: str | None = None
    noise_assumed: bool = False
    ruled_out: int = 0

    @property
    def changed(self) -> str:
        """Say that the problem has changed since what stands here was made; empty if it has not."""
        if self.setting is None or self.version_now in (None, self.setting.problem_version):
            return ""
        return (
            f"The problem has changed: it is version {self.version_now} now, and nothing is ranked in it yet. What "
            f"stands here was made with version {self.setting.problem_version}; versions are never mixed."
        )
