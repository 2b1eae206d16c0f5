"""The report that ends a run in the terminal, and the standing that it leads to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from harness.board.history import list_changes
from harness.board.listing import Listing
from harness.board.places import Board
from harness.board.ranking import rank
from harness.board.reading import fell_short
from harness.board.show import render_kernels, render_record
from harness.board.text import microseconds, seconds
from harness.store import BuildRecord, KernelRecord, Previous, Record, Store
from harness.target import load_target
from harness.text import clean


class Placed(Protocol):
    """What has a place on a board."""

    @property
    def place(self) -> int:
        """1 for the leader."""

    @property
    def tied(self) -> bool:
        """Another has the same place."""


def render_report(record: Record, store: Store, *, debug: bool) -> list[RenderableType]:
    """Return the report of a finished record of this machine."""
    previous = store.previous(record)
    standing = None
    if record.accepted:
        board = current_board(store, record.problem, record.target, record.division)
        place = next((entry for entry in board.entries if entry.record.team == record.team), None)
        apart = (*board.unranked, *board.elsewhere)
        kept = place is not None or any(one.record.team == record.team for one in apart)
        shown = any(one.record.id == record.id for one in apart)
        standing = render_standing(record, place, len(board.entries), replaced=kept and not shown)
    return compose_report(record, previous, standing, more=f"make show RECORD={record.id}", debug=debug)


def compose_report(
    record: Record,
    previous: Previous,
    standing: RenderableType | None,
    *,
    more: str,
    whole: str = "",
    debug: bool = False,
) -> list[RenderableType]:
    """Return a report: verdict first, then what changed, cases, kernels, and the standing.

    Args:
        record: finished.
        previous: the team's earlier records.
        standing: where it leads to, None for nowhere.
        more: where to see the record again.
        whole: where all of it is told, by default by this machine's `harness show`.
        debug: show our own traceback of an error of ours.
    """
    changes, told = list_changes(record, previous), not fell_short(record)
    shown = render_record(record, changes=changes, environment=told, whole=whole)
    parts: list[RenderableType] = [shown, Text("")]
    if standing is not None:
        parts.append(standing)
    parts.append(Text(f"record {record.id}   more: {more}", "dim"))
    ours = record.verdict.details.get("traceback") if record.verdict else None
    if debug and isinstance(ours, str):
        parts.append(Text(clean(ours, lines=True), "dim"))
    return parts


def current_board(store: Store, problem: str, target: str, division: str) -> Board:
    """Return a board as it stands."""
    gpu, records = load_target(target), store.board(problem, target, division)
    assumed = gpu.noise is None
    return rank(records, problem, target, division, noise=gpu.ranking_noise, noise_assumed=assumed)


def render_standing(record: Record, placed: Placed | None, ranked: int, *, replaced: bool = False) -> RenderableType:
    """Return a sentence on where a record's team stands.

    Args:
        record: accepted.
        placed: the team's entry on the record's board, None if it has none.
        ranked: how many entries the board has.
        replaced: the board shows another run of the team in the place of this one.
    """
    where = f"{record.problem}, {record.target}, {record.division} division"
    hidden = replaced and not record.whole_suite
    lines = []
    if placed is not None:
        tied = " (tied)" if placed.tied else ""
        place = f"{record.team} is number {placed.place}{tied} of {ranked} on {where}"
        lines.append(Text(clean(place), "bold"))
    if hidden:
        keeps = f"the board of {where}, keeps the team's run of all"
        lines.append(Text(clean(f"this run is not shown: it ran some cases only, and {keeps}")))
    elif placed is None:
        entries = f"{ranked or 'no'} ranked {'entry' if ranked == 1 else 'entries'} so far"
        why = record.unranked_reason or "the board has no place for it yet"
        lines.append(Text(clean(f"{record.team} is listed on {where}, but not ranked ({entries}): {why}")))
    return Group(*lines)


def render_ruling(record: Record, reason: str) -> RenderableType:
    """Return a sentence on a record that organisers have ruled out, and why."""
    where = f"{record.problem}, {record.target}"
    return Text(clean(f"Ruled out by the organisers: {reason}. {where} has no place for it, nor lists it"), "red")


def render_build(build: BuildRecord, kernels: Sequence[KernelRecord], folder: Path) -> list[RenderableType]:
    """Return what `harness build` prints: the compile report and the artifact."""
    cost = f"compile budget: {seconds(build.cpu_s)} of {build.budget_s:g} CPU-seconds"
    per_shape = Listing([f"{shape} {seconds(cost_s)}" for shape, cost_s in build.shapes.items()])
    report = render_kernels(kernels, whole="harness build --json")
    return [report, Text(f"\n{cost}"), per_shape, Text(f"artifact {folder}", "dim")]


def render_floors(floors_us: Mapping[str, float], target: str) -> list[RenderableType]:
    """Return the least times that a target's hardware allows, a line for each benchmark; nothing for none."""
    if not floors_us:
        return []
    heading = Text(f"\nThe floor on {clean(target)}: no kernel can be faster", "bold")
    return [heading, *(Text(f"  {clean(name)}  {microseconds(floor)} µs") for name, floor in floors_us.items())]
