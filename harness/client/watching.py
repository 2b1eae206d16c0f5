"""A service's standings and queue, looked at again and again: what there is, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from harness.client.answers import Season, Standing, State
from harness.client.boards import fetch_queue, fetch_season, fetch_standings
from harness.client.connection import Connection
from harness.client.tables import queue_line, render_queue, render_standings
from harness.errors import UsageError


@dataclass(frozen=True)
class Seen:
    """What a service showed at one moment."""

    name: str
    season: Season
    target: str
    division: str
    standings: tuple[Standing, ...]
    queue: tuple[State, ...]


def look(connection: Connection, target: str | None, division: str | None) -> Seen:
    """Return what a service shows now.

    Args:
        connection: to it.
        target: whose standings, None for the season's first.
        division: likewise.

    Raises:
        UsageError: the season has no such target or division.
        HarnessError: it is out of reach.
    """
    season = fetch_season(connection)
    for what, name, known in (("target", target, season.targets), ("division", division, season.divisions)):
        if name is not None and name not in known:
            raise UsageError(f"the season at {connection.address.name} has no {what} {name!r}: {', '.join(known)}")
    chosen, division = target or season.targets[0], division or season.divisions[0]
    standings, _ = fetch_standings(connection, chosen, division)
    queue, _ = fetch_queue(connection)
    return Seen(connection.address.name, season, chosen, division, standings, queue)


def render_seen(seen: Seen, trouble: str = "") -> RenderableType:
    """Return what was seen, for a terminal; and what is in the way of seeing it again."""
    closes = f", closes {seen.season.closes}" if seen.season.closes else ""
    heading = Text.assemble((seen.season.title, "bold"), (f"  {seen.season.phase}{closes}\n", "dim"))
    parts = [
        heading,
        render_standings(seen.standings, seen.season, seen.target, seen.division),
        Text(""),
        render_queue(seen.queue, seen.name),
    ]
    return Group(*parts, Text(f"\n{trouble}", "yellow")) if trouble else Group(*parts)


def list_news(before: Seen | None, now: Seen) -> Iterator[str]:
    """Return a line for everything that has changed; for everything there is, where nothing was seen before."""
    old_places = {s.team: (s.place, s.points) for s in before.standings} if before else {}
    for standing in now.standings:
        if old_places.get(standing.team) != (standing.place, standing.points):
            yield f"{standing.place}. {standing.team}: {standing.points:.1f} points"
    old = {state.id: queue_line(state) for state in before.queue} if before else {}
    for state in now.queue:
        if old.pop(state.id, None) != queue_line(state):
            yield queue_line(state)
    for gone in old:
        yield f"{gone}: done"
