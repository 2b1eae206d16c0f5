"""Who stands where, reckoned anew from what is stored: by the rules in words, without a line of `harness.board`.

It reads the tables as text, knows nothing of how the service keeps its boards, and shares no code with it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, text

ACCEPTED = ("PASSED", "CHECKED", "BUILT")


@dataclass(frozen=True)
class Place:
    """A row of a board."""

    place: int
    tied: bool
    team: str
    record: str
    score_us: float
    runs: int
    same_program_as: str | None


def read(engine: Engine, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query; what is JSON may come as text or not."""
    with engine.connect() as connection:
        rows = [dict(row._mapping) for row in connection.execute(text(query))]
    return [{name: json.loads(v) if isinstance(v, str) and v[:1] == "{" else v for name, v in r.items()} for r in rows]


class Recount:
    """All records and acts of a service."""

    def __init__(self, engine: Engine) -> None:
        rows = read(engine, "SELECT document FROM records ORDER BY id")
        self.records = [row["document"] for row in rows]
        self.out: set[tuple[str, str]] = set()
        for act in read(engine, "SELECT act, details FROM acts ORDER BY id"):
            ruled = (act["details"].get("team"), act["details"].get("program", ""))
            if act["act"] == "disqualify":
                self.out.add(ruled)
            if act["act"] == "reinstate":
                self.out.remove(ruled)

    def on(self, target: str) -> list[dict[str, Any]]:
        """Return the records that a board may show, the oldest first."""
        return [r for r in self.records if r["target"] == target and r["verdict"]["kind"] in ACCEPTED]

    def is_out(self, record: dict[str, Any]) -> bool:
        return bool({(record["team"], ""), (record["team"], _program(record))} & self.out)

    def board(self, target: str, noise: float) -> list[Place]:
        """Return the ranked rows of a target's board."""
        programs = defaultdict(list)
        for record in self.on(target):
            if record["ranked"] and record["verdict"]["kind"] == "PASSED" and not self.is_out(record):
                programs[record["team"], _program(record)].append(record)
        best: dict[str, tuple[float, str, list[dict[str, Any]]]] = {}
        for (team, _), runs in programs.items():
            mine = (_pooled_us(runs), runs[0]["id"], runs)
            best[team] = min(best.get(team, mine), mine, key=lambda one: one[:2])
        waiting = sorted(best.values(), key=lambda one: one[:2])
        rows: list[Place] = []
        while waiting:
            limit_us, place = waiting[0][0] * (1 + noise), len(rows) + 1
            near = {_program(runs[-1]) for score_us, _, runs in waiting if score_us <= limit_us}
            group = [one for one in waiting if _program(one[2][-1]) in near]
            waiting = [one for one in waiting if one not in group]
            for score_us, _, runs in group:
                last = runs[-1]
                earlier = self._owner(target, last)
                rows.append(Place(place, len(group) > 1, last["team"], last["id"], score_us, len(runs), earlier))
        return rows

    def unranked(self, target: str, board: list[Place]) -> dict[str, str]:
        """Return each team's newest record without a place, unless it has a newer one with a place."""
        placed = {row.team: row.record for row in board}
        newest = {r["team"]: r["id"] for r in self.on(target) if not r["ranked"] and not self.is_out(r)}
        return {team: name for team, name in newest.items() if name > placed.get(team, "")}

    def _owner(self, target: str, record: dict[str, Any]) -> str | None:
        """Return the other team that had a record's program, or else its source, first."""
        for same in (_program, lambda one: one["normalised_source_sha256"]):
            first = next(one["team"] for one in self.on(target) if same(record) in (_program(one), _source(one)))
            if first != record["team"]:
                return first
        return None


def standings(boards: dict[str, list[Place]], points: dict[str, float]) -> list[tuple[int, str, float]]:
    """Return place, team and points over boards by their problems."""
    totals: dict[str, float] = defaultdict(float)
    for problem, rows in boards.items():
        for row in rows:
            leader_us = min(one.score_us for one in rows if one.place == row.place)
            totals[row.team] += round(points[problem] * rows[0].score_us / leader_us, 1)
    listed = sorted((-round(total, 1), team) for team, total in totals.items())
    return [(1 + sum(other < total for other, _ in listed), team, -total) for total, team in listed]


def _program(record: dict[str, Any]) -> str:
    return record["program_sha256"] or record["normalised_source_sha256"]


def _source(record: dict[str, Any]) -> str:
    return record["normalised_source_sha256"]


def _pooled_us(runs: list[dict[str, Any]]) -> float:
    """Return the geometric mean of the benchmarks' times, each the mean of its runs'."""
    times = defaultdict(list)
    for run in runs:
        for timing, case_id in ((case["timing"], case["case_id"]) for case in run["cases"] if case["timing"]):
            times[case_id].append(timing["time_us"])
    return math.exp(sum(math.log(sum(found) / len(found)) for found in times.values()) / len(times))
